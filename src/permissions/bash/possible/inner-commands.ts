import { execStarts } from './texts-that-run.ts';
import { wrappedStarts } from './wrappers.ts';

const MAX_INNER = 50;

/** Where the command and every one inside of it begins, to the innermost: each is the rest of the words from there on. */
export function innerStarts(argv: readonly string[]): readonly number[] {
  const starts = new Set([0]);
  for (const from of starts) {
    const words = argv.slice(from);
    for (const start of [...wrappedStarts(words), ...execStarts(words)])
      if (starts.size <= MAX_INNER && from + start < argv.length) starts.add(from + start);
  }
  return [...starts];
}
