import { parse } from 'unbash';
import { exactProgram, isUnknownProgram, mayRunTexts, programOf } from '../programs.ts';
import { baseName, wordsOf } from '../words.ts';
import type { ComputedWord } from './computed-words.ts';
import type { PossibleReading } from './read-possible.ts';
import { execStarts } from './texts-that-run.ts';

/** A place that is not below the working folder: there lie programs. */
const ELSEWHERE = /^(?:\/|~|\.\.(?:\/|$)|\$)/;

/**
 * Names that nobody knows, given to a program that may start what it is given: `setpriv $(rev <<< lruc)`. Where rules deny
 * or ask about programs, each of them may be one of these.
 */
export function startedNames({ commands, computed, named }: PossibleReading): readonly string[] {
  const given = [...computed.filter((word) => !isListed(word)), ...named].filter(
    ({ argv, index }) => mayStart(argv) && !/^-/.test(argv[index] ?? ''),
  );
  const found = commands.filter(({ argv }) => startsFound(argv));
  return [
    ...new Set([
      ...given.map(({ argv, index }) => `What ${argv[index] ?? ''} gives to ${baseName(argv[0] ?? '')} is not known.`),
      ...found.map(({ argv }) => `What ${baseName(argv[0] ?? '')} would start of what it finds is not known.`),
    ]),
  ];
}

/** Could the command, or one behind it, take a word for the name of a program? */
function mayStart([name = '', ...words]: readonly string[]): boolean {
  const { wraps, feedsNames } = programOf(name);
  if (isUnknownProgram(name)) return true;
  if (wraps === undefined && feedsNames === undefined) return false;
  const inner = words.find((word) => !IS_TEXT.test(word) && programOf(word).wraps === undefined);
  return inner === undefined || isUnknownProgram(inner);
}

const IS_TEXT = /^[-+$]|[^\w.+-]|^\d+$/;

/** `find /usr/bin -exec setpriv {} \;`: what is found elsewhere, where a program could be started. */
function startsFound(argv: readonly string[]): boolean {
  if (programOf(argv[0] ?? '').walks !== true) return false;
  const end = argv.findIndex((word, at) => at > 0 && /^[-!(]/.test(word));
  const isElsewhere = argv.slice(1, end === -1 ? undefined : end).some((place) => ELSEWHERE.test(place));
  const runs = execStarts(argv).map((start) => argv.slice(start));
  return runs.some((words) => {
    const held = words.some((word) => word.includes('{}'));
    // Glued to other text a name is another one.
    const isGlued = words.some((word) => /[^/]\{\}/.test(word));
    return held && (isElsewhere || isGlued) && (isUnknownProgram(words[0] ?? '') || mayRunTexts(words[0] ?? ''));
  });
}

/** `$(git ls-files src)`, `$(date +%F)`: names below the working folder, or nothing of the kind. */
function isListed({ argv, index }: ComputedWord): boolean {
  const word = argv[index] ?? '';
  if (/^[\w-]+=/.test(word)) return true;
  const inside = /^\$\(([\s\S]*)\)$/.exec(word)?.[1];
  if (inside === undefined) return false;
  const nodes = parse(inside).commands.map(({ command }) => (command.type === 'Command' ? wordsOf(command) : []));
  return nodes.every(([name = '', ...words]) => {
    const { readOnly, lists, walks, searches, subcommands } = exactProgram(name);
    if (readOnly?.operands === 'none' || readOnly?.operands === 'format') return true;
    const isListing = [lists, walks, searches, subcommands].some((each) => each !== undefined);
    return isListing && !words.some((each) => ELSEWHERE.test(each) || /^-exec|^-ok/.test(each));
  });
}
