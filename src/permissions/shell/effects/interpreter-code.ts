import { findProgramFacts, isUnknownProgram } from '../programs/find-program-facts.ts';

/** Options of interpreters whose value, attached or not, is code, and arguments with code in place of a file name. */
export const INTERPRETER_CODE_OPTIONS =
  /^(?:-\w*[ceErR]|-[ceE].+|-\w+\W.*|--?(?:[a-z]+-)?(?:eval|expr|print|execute|command|run|cmd|batch|require|import|load|call)(?:-[a-z]+)?(?:=.*)?|eval|-i?ex|-B|data:.*)$/s;
const QUOTED_TEXT = /(["'`])([^"'`\n]{1,200})\1/g;
/** Unquoted text that can only be a path: `/x`, `./x`, `~/x`, `.env`. */
const UNQUOTED_PATH = /(?:^|[\s([{<=,;:|])((?:\.{1,2}\/|~\/|\/|\.)[\w@%+~-][\w./@%+~-]*)/g;
const FILE_CHANGING_ARG = /write|append|unlink|remove|rmtree|rename|truncate|copy|mkdir|symlink|["'][wax]\+?b?["']|>/i;

/** Returns the index of the interpreter that a command is or may start, or -1. */
export function findInterpreterIndex(argv: readonly string[]): number {
  const [name = ''] = argv;
  const { interpreter, wrapper, commandMarkers, runsShellCommands, isShell } = findProgramFacts(name);
  if (interpreter !== undefined) return 0;
  const mayRun = (wrapper ?? commandMarkers ?? runsShellCommands ?? isShell) !== undefined || isUnknownProgram(name);
  return mayRun ? argv.findIndex((arg) => findProgramFacts(arg).interpreter !== undefined) : -1;
}

/** True if a command may run its standard input as code. */
export function mayRunInputAsCode(argv: readonly string[]): boolean {
  const index = findInterpreterIndex(argv);
  return index !== -1 && findProgramFacts(argv[index] ?? '').interpreter?.inputIsData !== true;
}

/** Lists the file names in the code given to a command. Best effort: computed names are missed. */
export function listFileNamesInCode(argv: readonly string[]): readonly string[] {
  const codeArgs = listCodeArgs(argv);
  if (codeArgs.length === 0) return [];
  const allowsUnquoted = hasUnquotedPaths(argv);
  return codeArgs.flatMap((code) => listNames(code, { allowsUnquoted }));
}

/** Lists the file names in the code given to a command that the code may change. */
export function listFilesChangedByCode(argv: readonly string[]): readonly string[] {
  const codeArgs = listCodeArgs(argv).filter((code) => FILE_CHANGING_ARG.test(code));
  if (codeArgs.length === 0) return [];
  const allowsUnquoted = hasUnquotedPaths(argv);
  return codeArgs.flatMap((code) => listNames(code, { allowsUnquoted }));
}

/** Returns the file names in code on the standard input of an interpreter and whether it may change the files. */
export function findFileNamesInStdinCode(text: string): {
  readonly names: readonly string[];
  readonly mayChange: boolean;
} {
  return { names: listNames(text, { allowsUnquoted: false }), mayChange: FILE_CHANGING_ARG.test(text) };
}

/** Returns the arguments that may be code: those of an interpreter and of an unknown program. */
function listCodeArgs(argv: readonly string[]): readonly string[] {
  return isUnknownProgram(argv[0] ?? '') || findInterpreterIndex(argv) !== -1 ? argv.slice(1) : [];
}

function hasUnquotedPaths(argv: readonly string[]): boolean {
  return findProgramFacts(argv[findInterpreterIndex(argv)] ?? '').interpreter?.hasUnquotedPaths === true;
}

function listNames(text: string, { allowsUnquoted }: { readonly allowsUnquoted: boolean }): readonly string[] {
  const quoted = [...text.matchAll(QUOTED_TEXT)].map((match) => match[2] ?? '');
  const paths = [...text.matchAll(UNQUOTED_PATH)].map((match) => match[1] ?? '');
  return [
    ...quoted,
    ...paths,
    ...(allowsUnquoted ? text.split(/[\s()[\]{}<>"'`;,|=]+/).filter((word) => word !== '') : []),
  ];
}
