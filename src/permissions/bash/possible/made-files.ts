import { stakesOf } from '../programs/stakes.ts';
import { isUnknownProgram, programOf } from '../programs.ts';
import { baseName } from '../words.ts';
import type { PossibleReading } from './read-possible.ts';
import { writtenWords } from './write-words.ts';

/** Descriptions that a build is run by without being named. */
const BUILT_BY =
  /^(?:(?:GNU)?[Mm]akefile|[Jj]ustfile|\.justfile|Rakefile|package\.json|build\.gradle(?:\.kts)?|build\.xml|build\.zig|Cargo\.toml|build\.rs|CMakeLists\.txt|setup\.py|conftest\.py|[\w.-]+\.mk)$/;
const PACKED = /\.(?:gz|z|Z|bz2|xz|zst|lz4?|lzma)$/;

/** Why nobody knows what runs: a file that the line makes and then runs, or a place it reaches by a link it makes. */
export function madeProblems({ commands, writes, reads }: PossibleReading): readonly string[] {
  // What a compiler makes of a source is not what somebody wrote in the line.
  const filling = commands.filter(({ argv }) => {
    const { reads, writes: operands, copiesFiles } = programOf(argv[0] ?? '');
    return (reads ?? operands ?? copiesFiles) !== undefined;
  });
  const written = [...writes, ...filling.flatMap(({ argv }) => writtenWords(argv).map(({ word }) => word))];
  const packed = commands.flatMap(({ argv }) => argv.slice(1).filter((word) => PACKED.test(word)));
  const made = new Set([...written, ...packed.map((word) => word.replace(PACKED, ''))].map(baseName));
  made.delete('null');
  made.delete('');
  // One that writes its second word may take that for the beginning of many names.
  const starts = commands.flatMap(({ argv }) =>
    programOf(argv[0] ?? '').writes === 'second'
      ? argv
          .slice(2)
          .filter((word) => /^\w/.test(word))
          .map(baseName)
      : [],
  );
  const isMade = (word: string) => made.has(baseName(word)) || starts.some((start) => baseName(word).startsWith(start));
  const links = commands.flatMap(({ argv }) => linksOf(argv));
  const opened = [...writes, ...reads].find((word) =>
    links.some((link) => word.startsWith(`${link}/`) || (writes.includes(word) && word === link)),
  );
  const linked = opened === undefined ? [] : [`Where ${opened} leads is not known: the line makes a link on the way.`];
  const found = commands.flatMap(({ argv }) => {
    const run = runBy(argv).find(isMade);
    const through = argv.slice(1).find((word) => links.some((link) => word.startsWith(`${link}/`)));
    const built = [...made].find((name) => BUILT_BY.test(name));
    const [name = '', ...args] = argv;
    const builds = built !== undefined && stakesOf(baseName(name), args).some(({ kind }) => kind === 'runs_project');
    return [
      ...(run === undefined ? [] : [`What is in ${run}, which the line itself makes, is not known.`]),
      ...(through === undefined ? [] : [`Where ${through} leads is not known: the line makes a link on the way.`]),
      ...(builds ? [`What is in ${built}, which the line itself makes, is not known.`] : []),
    ];
  });
  return [...linked, ...found];
}

/** The words of a command that are run as scripts or programs, also by one that it starts. */
function runBy([name = '', ...words]: readonly string[]): readonly string[] {
  const { code, changesShell, reads } = programOf(name);
  const isSourced = changesShell === true && reads !== undefined;
  const isRunner = [name, ...words].some((word) => {
    const program = programOf(word);
    return program.isShell === true || (program.code !== undefined && program.code.isPlain === undefined);
  });
  const own = name.includes('/') ? [name] : [];
  if (isRunner || isSourced || (code !== undefined && code.isPlain === undefined)) return [...own, ...words];
  return [...own, ...(isUnknownProgram(name) ? words.filter((word) => word.includes('/')) : [])];
}

/** The names that become links. */
function linksOf([name = '', ...words]: readonly string[]): readonly string[] {
  const { links, copiesFiles } = programOf(name);
  const isCopying = copiesFiles === true && words.some((word) => /^(?:-\w*[ls]|--link|--symbolic-link)/.test(word));
  if (links !== true && !isCopying) return [];
  const operands = words.filter((word) => !word.startsWith('-'));
  const [target = ''] = operands;
  const place = operands.length > 1 ? operands.at(-1) : baseName(target);
  return place === undefined || place === '' ? [] : [place, `./${place}`];
}
