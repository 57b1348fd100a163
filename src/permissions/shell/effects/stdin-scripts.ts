import { posix } from 'node:path';
import { type Command, forEachChild, type SyntaxNode } from 'unbash';
import type { ParseScript } from '../analyze.ts';
import { getCommandArgv, getProgramBaseName } from '../parse/shell-words.ts';
import { findProgramFacts, mayRunScripts } from '../programs/find-program-facts.ts';
import { findInterpreterIndex, INTERPRETER_CODE_OPTIONS, mayRunInputAsCode } from './interpreter-code.ts';
import { findWrappedCommandStarts, listInlineScripts } from './nested-commands.ts';

/** Reads the scripts inside a command line. */
export type NestedScriptParser = {
  readonly parse: ParseScript;
  /** Returns whether the exact analysis understands a script. */
  readonly isAnalyzable: (script: string) => boolean;
};

/** Lists the reasons why the standard input of a shell or an interpreter is unknown. */
export function listStdinProblems(root: SyntaxNode, reader: NestedScriptParser): readonly string[] {
  const problems: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Pipeline') {
      const argvs = node.commands.map((command) => (command.type === 'Command' ? getCommandArgv(command) : []));
      node.commands.forEach((stage, index) => {
        const commands = index === 0 ? [] : listCommands(stage, reader.parse);
        const argv = commands.find(readsStdin);
        if (argv === undefined) return;
        const isKnown = argvs.slice(0, index).every(printsArgsVerbatim) && !readsCodeFromStdin(argv);
        if (!isKnown)
          problems.push(
            `The input piped into ${getProgramBaseName(argv[Math.max(0, findInterpreterIndex(argv))] ?? '')} is unknown.`,
          );
      });
    }
    // `{ sh; } < file`
    if (node.type === 'Redirected' && node.redirects.some(({ operator }) => operator.startsWith('<'))) {
      const argv = listCommands(node.command, reader.parse).find(readsStdin);
      if (argv !== undefined) problems.push(`The input of ${getProgramBaseName(argv[0] ?? '')} is unknown.`);
    }
    if (node.type === 'Command') problems.push(...listInputProblems(node, reader));
    forEachChild(node, visit);
  };
  visit(root);
  return problems;
}

/** Returns the commands in a piece of script and in the scripts that these hand to a shell. */
function listCommands(node: SyntaxNode, parseScript: ParseScript): readonly (readonly string[])[] {
  const argvs: (readonly string[])[] = [];
  const visit = (child: SyntaxNode): void => {
    if (child.type === 'Command') argvs.push(getCommandArgv(child));
    forEachChild(child, visit);
  };
  visit(node);
  for (const text of argvs.flatMap(listInlineScripts)) visit(parseScript(text));
  return argvs;
}

/** True for `echo` without escapes, which prints its arguments separated by spaces; other programs may join words. */
function printsArgsVerbatim([name = '', ...args]: readonly string[]): boolean {
  const { printsArgs, textArgs } = findProgramFacts(name);
  return (
    printsArgs === true && textArgs === 'all' && args.every((arg) => !/[\\%]/.test(arg) && !/^-\w*[neE]/.test(arg))
  );
}

/** Lists the reasons why the input of a shell or an interpreter cannot be analyzed. */
function listInputProblems(node: Command, { isAnalyzable }: NestedScriptParser): readonly string[] {
  const argv = getCommandArgv(node);
  const { changesShellState, runsShellCommands } = findProgramFacts(argv[0] ?? '');
  const sourcesStdin = changesShellState === true && runsShellCommands === true && argv.some(isStdinArg);
  if (sourcesStdin) return ['The input of a shell is unknown.'];
  const hasInputFile = node.redirects.some(({ operator }) => operator === '<' || operator === '<>');
  if (hasInputFile && readsScriptFromStdin(argv)) return ['The contents of the file that a shell runs are unknown.'];
  const hasInput = node.redirects.some(({ operator }) => operator.startsWith('<'));
  const namesStdin = argv.slice(1).some(isStdinPath) && mayRunScripts(argv[0] ?? '');
  if (namesStdin) return [`The input of ${getProgramBaseName(argv[0] ?? '')} is unknown.`];
  if (hasInput && readsCodeFromStdin(argv)) return [`The input of ${getProgramBaseName(argv[0] ?? '')} is unknown.`];
  const texts = node.redirects.flatMap((redirect) => {
    if (redirect.type === 'HereDoc') return [redirect.body.text];
    return redirect.type === 'HereString' && redirect.target !== undefined ? [redirect.target.value] : [];
  });
  const areAnalyzable = texts.every(isAnalyzable) || !argv.some((arg) => findProgramFacts(arg).isShell === true);
  return areAnalyzable ? [] : ['The script on the input of a shell cannot be analyzed.'];
}

function readsStdin(argv: readonly string[]): boolean {
  return readsScriptFromStdin(argv) || readsCodeFromStdin(argv);
}

/** True for a shell, also behind a wrapper, that reads its script from standard input. */
function readsScriptFromStdin(argv: readonly string[]): boolean {
  const isShell = (text: string) => findProgramFacts(text.replace(/^--?[\w-]+=/, '')).isShell === true;
  const index = argv.findIndex((arg) => isShell(arg) || findProgramFacts(arg).inputBecomes === 'commands');
  if (index === -1) return startsShellByDefault(argv);
  const operands = argv.slice(index + 1);
  if (findProgramFacts(argv[index] ?? '').inputBecomes === 'commands')
    return !operands.some((arg) => /^(?:-\w*c|--c\w*(?:=.*)?)$/.test(arg));
  return (
    !operands.includes('-c') &&
    operands.every(
      (arg, position) =>
        arg.startsWith('-') || isStdinArg(arg) || operands[position - 1] === '-o' || operands.includes('-s'),
    )
  );
}

/** True for a wrapper that starts a shell if it gets no command: `unshare`, `sudo -s`. */
function startsShellByDefault(argv: readonly string[]): boolean {
  const { wrapper, inputBecomes } = findProgramFacts(argv[0] ?? '');
  return wrapper !== undefined && inputBecomes === undefined && findWrappedCommandStarts(argv).length === 0;
}

/** True for an interpreter that reads its code from standard input: it gets neither a file nor code. */
function readsCodeFromStdin(argv: readonly string[]): boolean {
  if (!mayRunInputAsCode(argv)) return false;
  const rest = argv.slice(findInterpreterIndex(argv) + 1);
  return rest.every(
    (arg) => (arg.startsWith('-') && !INTERPRETER_CODE_OPTIONS.test(arg)) || arg === 'run' || isStdinArg(arg),
  );
}

/** True for a path that may be standard input, which has many names: `/dev/stdin`, `../../proc/self/…/0`. */
function isStdinPath(word: string): boolean {
  const path = posix.normalize(word.replace(/^-?-?[\w.-]*=/, ''));
  const [, folder = ''] = /^(.*)\/\d+$/s.exec(path) ?? [];
  return /(?:^|\/)stdin$/.test(path) || /(?:^|\/)(?:dev|proc)\//.test(folder);
}

/** True for an argument that may name standard input, also relative to `/dev/fd`. */
function isStdinArg(word: string): boolean {
  return isStdinPath(word) || /^(?:\w+\/)?\d+$/.test(word);
}
