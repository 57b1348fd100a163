import { join } from 'node:path';
import { programOf } from '../programs.ts';
import { baseName } from '../words.ts';
import { changedInCode } from './code.ts';

/** A word that names a file which would be made, changed or removed. */
export type WrittenWord = { readonly word: string; readonly sure: 'certain' | 'possible' };

/** Options whose value is a file or folder to write, whoever the command is. */
const OUTPUT =
  /^(?:-out|--out(?:put(?:-(?:file|document|dir(?:ectory)?))?|file|dir)?|--dest(?:ination)?|--pack-destination|--directory-prefix|--log-file)$/;
/** Every file the words of one command would write to. */
export function writtenWords(argv: readonly string[]): readonly WrittenWord[] {
  const { writes, inPlace, outputStarts = [], subcommands } = programOf(argv[0] ?? '');
  const args = argv.slice(1);
  const dashes = argv.indexOf('--', 1);
  const operands = args.filter((word, at) => !/^-./.test(word) || (dashes !== -1 && at >= dashes));
  const isAll = writes === 'operands' || (inPlace !== undefined && args.some((word) => inPlace.test(word)));
  const certain = [
    ...(isAll ? operands : []),
    ...(writes === 'after-first' ? operands.slice(1) : []),
    ...(writes === 'target' || writes === 'target-and-sources' ? landed(argv, operands) : []),
    ...(writes === 'target-and-sources' ? operands : []),
    ...outputStarts.flatMap((start) =>
      args.flatMap((word) => (word.startsWith(start) && word.length > start.length ? [word.slice(start.length)] : [])),
    ),
  ];
  const possible = [
    ...(writes === 'second' ? operands.slice(1) : []),
    ...(subcommands === undefined ? [] : wordsAfter(argv, subcommands.writing)),
    ...changedInCode(argv),
  ];
  return [
    ...certain.map((word): WrittenWord => ({ word, sure: 'certain' })),
    ...possible.map((word): WrittenWord => ({ word, sure: 'possible' })),
    ...writtenByOptions(argv),
  ];
}

/** `cp a b/` writes `b/a`. */
function landed(argv: readonly string[], operands: readonly string[]): readonly string[] {
  const targets = argv.flatMap((word, at) => {
    if (/^(?:-t|--target-directory)$/.test(argv[at - 1] ?? '')) return [word];
    return /^(?:-t|--target-directory=)(.+)$/.exec(word)?.[1] ?? [];
  });
  const into = targets.length > 0 ? targets : operands.slice(-1);
  const inside = into.flatMap((target) =>
    operands.filter((word) => word !== target).map((word) => join(target, baseName(word))),
  );
  return [...into, ...inside];
}

/** The operands behind each of some sub-commands. */
function wordsAfter(argv: readonly string[], subcommands: readonly string[]): readonly string[] {
  const at = argv.findIndex((word, index) => index > 0 && subcommands.includes(word));
  return at === -1 ? [] : argv.slice(at + 1).filter((word) => !word.startsWith('-'));
}

/** The files that the options of a command write. */
export function writtenByOptions(argv: readonly string[]): readonly WrittenWord[] {
  const { outputs = [], otherO = false, subcommands } = programOf(argv[0] ?? '');
  return argv.flatMap((word, at): readonly WrittenWord[] => {
    if (at === 0) return [];
    const [, option = '', value] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const next = value ?? argv[at + 1];
    const isPlace = outputs.includes(option) || OUTPUT.test(option) || /^--outp(?:u|ut)?$/.test(option);
    // `-so file`, `-ofile`: the letter may stand at the end of others, or before its value.
    const isLetter = !otherO && /^-[a-zA-Z]*[oO]$/.test(option);
    const glued = otherO ? undefined : /^-[oO]([^-].*)$/s.exec(word)?.[1];
    const found = [...(isPlace || isLetter ? [next] : []), glued];
    return found.flatMap((each) =>
      each === undefined || each.startsWith('-')
        ? []
        : [{ word: each, sure: isPlace && subcommands === undefined ? 'certain' : 'possible' }],
    );
  });
}
