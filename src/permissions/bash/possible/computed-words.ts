import type { Command, SyntaxNode } from 'unbash';
import { programOf } from '../programs.ts';
import { readWord, wordsOf } from '../words.ts';
import { placeholders } from './placeholders.ts';

/** A word of a command that bash puts together when the line runs. */
export type ComputedWord = {
  readonly argv: readonly string[];
  readonly index: number;
  /** Names of files that are there, but not below the working folder. */
  readonly of?: 'elsewhere';
};

/** The words of which more is known only when the line runs, the name of the command aside. */
export function computedIn(command: Command): readonly ComputedWord[] {
  const argv = wordsOf(command);
  return command.args.flatMap((word, index) => {
    const value = word.type === 'Assignment' ? word.value : word;
    const isKnown = value.type === 'Word' && /^(?:literal|glob)$/.test(readWord(value).kind);
    return isKnown ? [] : [{ argv, index: index + 1 }];
  });
}

/** Is there anything in the text that bash would fill in? */
export function isComputed(text: string): boolean {
  return /[$`]/.test(text);
}

/** `cat list | xargs cat`, `xargs cat < list`: other names than those of files that are there. */
export function namedBy(node: SyntaxNode): readonly ComputedWord[] {
  const stages = node.type === 'Pipeline' ? node.commands : node.type === 'Command' ? [node] : [];
  return stages.flatMap((stage, at): readonly ComputedWord[] => {
    const argv = stage.type === 'Command' ? wordsOf(stage) : [];
    if (stage.type !== 'Command') return [];
    // Names that are printed as they stand may be put below any folder.
    const isPrinted = stages
      .slice(0, at)
      .some((each) => each.type === 'Command' && programOf(wordsOf(each)[0] ?? '').prints === true);
    const glued = gluedNames(argv, isPrinted ? 'printed' : 'listed');
    if (!isGivenNames(argv)) return glued;
    const isFed =
      stage.redirects.some(({ operator }) => operator === '<' || operator === '<>') ||
      argv.some((word) => LISTED.test(word));
    const before = stages.slice(0, at).map((each) => (each.type === 'Command' ? wordsOf(each) : []));
    const isKnown = before.every(([name = '', ...words], place) => {
      const { lists, walks, prints, searches, subcommands, keepsLines } = programOf(name);
      return (
        [lists, walks, searches, subcommands].some((each) => each !== undefined) ||
        (prints === true && words.every((word) => !/[\\%]/.test(word))) ||
        (keepsLines === true && place > 0 && words.every((word) => PASSING.test(word)))
      );
    });
    const other = { argv: [...argv, '$(names)'], index: argv.length };
    if (!isKnown || isFed) return [...glued, other];
    // What lies elsewhere is known to a reading of files, and may be a program.
    const isElsewhere = before.some((words) => words.some((word, place) => place > 0 && /^(?:\/|~|\.\.)/.test(word)));
    return isElsewhere ? [...glued, { ...other, of: 'elsewhere' }] : glued;
  });
}

/** Options with which lines are passed on as they are, from what comes before. */
const PASSING = /^(?:-[bdfghinqrRsuVk]*\d*(?:,\d+)?|[+-]?\d+)$/;
/** Options for a file that holds names. */
const LISTED = /^(?:-a|--arg-file|--files0?-from|-\w*T$)/;

function isGivenNames(argv: readonly string[]): boolean {
  if (argv.some((word) => programOf(word).feedsNames !== undefined || /^--files0?-from/.test(word))) return true;
  return programOf(argv[0] ?? '').takesFolders === 'always' && argv.some((word) => LISTED.test(word));
}

/** Words in which such a name is put beside other text: `xargs -I{} cat .e{}`. They may name anything. */
function gluedNames(argv: readonly string[], names: 'printed' | 'listed'): readonly ComputedWord[] {
  const holders = placeholders(argv);
  if (holders.length === 0) return [];
  const { walks } = programOf(argv[0] ?? '');
  return argv.flatMap((word, index) => {
    const holder = holders.find((each) => word.includes(each) && word !== each && !/^\{[^{}]*\}$/.test(word));
    if (index === 0 || holder === undefined || /^(?:-[iIJ]|--replace)/.test(word)) return [];
    // A folder with a name below it: what lies there is looked at.
    if (walks !== true && names === 'listed' && word.endsWith(`/${holder}`)) return [];
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
