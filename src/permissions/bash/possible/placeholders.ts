import { programOf } from '../programs.ts';
import { execStarts } from './texts-that-run.ts';

/** What in the words of a command stands for names that it is given: `{}`, or what its options say. */
export function placeholders(argv: readonly string[]): readonly string[] {
  const { feedsNames, lists } = programOf(argv[0] ?? '');
  // One that lists what it finds knows `{/}` and others, too.
  if (feedsNames === undefined) return execStarts(argv).length === 0 ? [] : lists === undefined ? ['{}'] : ['{}', '{'];
  const stands = argv.flatMap(
    (word, at) =>
      /^(?:-[iIJ]|--replace=)(.+)$/.exec(word)?.[1] ?? (/^-[IJ]$/.test(word) ? argv[at + 1] : undefined) ?? [],
  );
  return [...stands.filter((each) => each !== ''), '{}', ...(feedsNames === 'operands' ? [] : ['{'])];
}
