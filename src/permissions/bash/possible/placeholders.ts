import { programOf } from '../programs.ts';
import type { ComputedWord } from './computed-words.ts';
import { execStarts } from './texts-that-run.ts';

/** What in the words of a command stands for names that it is given: `{}`, or what its options say. */
export function placeholders(argv: readonly string[]): readonly string[] {
  const { feedsNames, lists } = programOf(argv[0] ?? '');
  // `fd -x a {/}` has more than one.
  if (feedsNames === undefined) return execStarts(argv).length === 0 ? [] : lists === undefined ? ['{}'] : ['{}', '{'];
  const stands = argv.flatMap(
    (word, at) =>
      /^(?:-[iIJ]|--replace=)(.+)$/.exec(word)?.[1] ?? (/^-[IJ]$/.test(word) ? argv[at + 1] : undefined) ?? [],
  );
  return [...stands.filter((each) => each !== ''), '{}', ...(feedsNames === 'operands' ? [] : ['{'])];
}

/** Words in which such a name is put beside other text: `xargs -I{} cat .e{}`. They may name anything. */
export function gluedNames(argv: readonly string[]): readonly ComputedWord[] {
  const holders = placeholders(argv);
  if (holders.length === 0) return [];
  const { walks } = programOf(argv[0] ?? '');
  return argv.flatMap((word, index) => {
    const holder = holders.find((each) => word.includes(each) && word !== each && !/^\{[^{}]*\}$/.test(word));
    if (index === 0 || holder === undefined || /^(?:-[iIJ]|--replace)/.test(word)) return [];
    // A folder with a name below it: what lies there is looked at.
    if (walks !== true && word.endsWith(`/${holder}`)) return [];
    const filled = argv.map((each, at) =>
      at === index
        ? holder === '{'
          ? each.replace(/\{[^{}]*\}/g, '$(names)')
          : each.replaceAll(holder, '$(names)')
        : each,
    );
    return [{ argv: filled, index }];
  });
}
