import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse } from 'unbash';
import { starTest } from '../../lib/patterns/linear-match.ts';
import { tooMuchToRead } from '../bash/check-bytes.ts';
import { readPossible } from '../bash/possible/read-possible.ts';

/** A file that calls of this session wrote, and that a command names: what it holds is a part of what would run. */
export type WrittenFile = { readonly path: string; readonly text: string };

/** All of them together; more is not judged at one look. */
const MOST_CHARACTERS = 8_000;
/** What stands between names in a line, or around one. */
const BETWEEN = /[\s"'`;|&<>()=,{}$]+/;

/**
 * The files a command names that were written in this session, as they are now; `too long` where they are more than a
 * look. A name counts wherever it stands and in whatever folder: the line may change to one.
 */
export function writtenFilesIn(command: string, written: readonly string[]): readonly WrittenFile[] | 'too long' {
  if (written.length === 0 || command === '') return [];
  if (tooMuchToRead(command) !== undefined) return 'too long';
  const words = readPossible(parse(command)).commands.flatMap(({ argv }) => argv);
  const named = [...words, ...command.split(BETWEEN), ...words.flatMap((word) => word.split(BETWEEN))];
  const names = new Set(named.map((word) => basename(word)).filter((name) => name !== ''));
  const patterns = [...names]
    .filter((name) => /[*?[]/.test(name))
    .map((name) => starTest(name.replace(/[?[\]]+/g, '*')));
  const isNamed = (name: string) => names.has(name) || patterns.some((fits) => fits(name));
  const files = written.filter((path) => isNamed(basename(path))).flatMap(textOf);
  return files.reduce((sum, { text }) => sum + text.length, 0) > MOST_CHARACTERS ? 'too long' : files;
}

function textOf(path: string): readonly WrittenFile[] {
  try {
    return [{ path, text: readFileSync(path, 'utf8') }];
  } catch {
    // It is gone, or a folder: nothing of it runs by this name.
    return [];
  }
}
