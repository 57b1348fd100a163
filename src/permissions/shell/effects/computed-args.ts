import type { Command, SyntaxNode } from 'unbash';
import { getCommandArgv, parseShellArgument } from '../parse/shell-words.ts';
import { findProgramFacts } from '../programs/find-program-facts.ts';
import { listArgPlaceholders } from './nested-commands.ts';

/** An argument that bash computes when the command line runs. */
export type ComputedArg = {
  readonly argv: readonly string[];
  readonly index: number;
  /** Existing file names that are not below the working folder. */
  readonly origin?: 'outside-cwd';
};

/** Returns the arguments of a command, without its name, that are only known when it runs. */
export function listComputedArgs(command: Command): readonly ComputedArg[] {
  const argv = getCommandArgv(command);
  return command.args.flatMap((node, index) => {
    const value = node.type === 'Assignment' ? node.value : node;
    const isKnown = value.type === 'Word' && /^(?:literal|glob)$/.test(parseShellArgument(value).kind);
    return isKnown ? [] : [{ argv, index: index + 1 }];
  });
}

/** True if bash would expand something in the text. */
export function hasExpansion(text: string): boolean {
  return /[$`]/.test(text);
}

/**
 * Returns the arguments that stand for names read from a pipe or a file, unless these are names of existing files:
 * `cat list | xargs cat`, `xargs cat < list`.
 */
export function listPipedNameArgs(node: SyntaxNode): readonly ComputedArg[] {
  const stages = node.type === 'Pipeline' ? node.commands : node.type === 'Command' ? [node] : [];
  return stages.flatMap((stage, stageIndex): readonly ComputedArg[] => {
    const argv = stage.type === 'Command' ? getCommandArgv(stage) : [];
    if (stage.type !== 'Command') return [];
    // Printed names may be appended to any folder.
    const isPrinted = stages
      .slice(0, stageIndex)
      .some(
        (earlier) =>
          earlier.type === 'Command' && findProgramFacts(getCommandArgv(earlier)[0] ?? '').printsArgs === true,
      );
    const glued = listGluedNameArgs(argv, isPrinted ? 'printed' : 'listed');
    const { readsNames } = findProgramFacts(argv[0] ?? '');
    // It opens the files itself, so no command is seen that gets the names.
    if (readsNames !== undefined && argv.slice(1).some((arg) => readsNames.test(arg)))
      return [...glued, { argv: [...argv, '$(names)'], index: argv.length }];
    if (!takesNames(argv)) return glued;
    const readsNameFile =
      stage.redirects.some(({ operator }) => operator === '<' || operator === '<>') ||
      argv.some((arg) => NAME_FILE_OPTION.test(arg));
    const earlierArgvs = stages
      .slice(0, stageIndex)
      .map((earlier) => (earlier.type === 'Command' ? getCommandArgv(earlier) : []));
    const areNamesKnown = earlierArgvs.every(([name = '', ...args], index) => {
      const { lists, walksFolders, printsArgs, searches, subcommands, keepsLines } = findProgramFacts(name);
      return (
        [lists, walksFolders, searches, subcommands].some((feature) => feature !== undefined) ||
        (printsArgs === true && args.every((arg) => !/[\\%]/.test(arg))) ||
        (keepsLines === true && index > 0 && args.every((arg) => LINE_OPTION.test(arg)))
      );
    });
    const unknownArg = { argv: [...argv, '$(names)'], index: argv.length };
    if (!areNamesKnown || readsNameFile) return [...glued, unknownArg];
    // The analysis of files knows these names, but they may be programs.
    const isOutsideCwd = earlierArgvs.some((args) =>
      args.some((arg, index) => index > 0 && /^(?:\/|~|\.\.)/.test(arg)),
    );
    return isOutsideCwd ? [...glued, { ...unknownArg, origin: 'outside-cwd' }] : glued;
  });
}

/** Options with which a filter passes lines on unchanged. */
const LINE_OPTION = /^(?:-[bdfghinqrRsuVk]*\d*(?:,\d+)?|[+-]?\d+)$/;
/** Options that name a file which contains names. */
const NAME_FILE_OPTION = /^(?:-a|--arg-file|--files0?-from|-\w*T$)/;

function takesNames(argv: readonly string[]): boolean {
  if (argv.some((arg) => findProgramFacts(arg).inputBecomes !== undefined || /^--files0?-from/.test(arg))) return true;
  return (
    findProgramFacts(argv[0] ?? '').readsRecursively === 'always' && argv.some((arg) => NAME_FILE_OPTION.test(arg))
  );
}

/** Returns the arguments that join such a name with other text (`xargs -I{} cat .e{}`) and so may name anything. */
function listGluedNameArgs(argv: readonly string[], source: 'printed' | 'listed'): readonly ComputedArg[] {
  const tokens = listArgPlaceholders(argv);
  if (tokens.length === 0) return [];
  const { walksFolders } = findProgramFacts(argv[0] ?? '');
  return argv.flatMap((arg, index) => {
    const token = tokens.find((text) => arg.includes(text) && arg !== text && !/^\{[^{}]*\}$/.test(arg));
    if (index === 0 || token === undefined || /^(?:-[iIJ]|--replace)/.test(arg)) return [];
    // A name below a folder is a file in it, and the files in the folder are checked.
    if (walksFolders !== true && source === 'listed' && arg.endsWith(`/${token}`)) return [];
    const filled = argv.map((text, position) =>
      position === index
        ? token === '{'
          ? text.replace(/\{[^{}]*\}/g, '$(names)')
          : text.replaceAll(token, '$(names)')
        : text,
    );
    return [{ argv: filled, index }];
  });
}
