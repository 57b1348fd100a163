import { isUnknownProgram, programOf } from '../programs.ts';

/** Options of many interpreters whose value is code, glued to it or not, and code in the place of a file. */
export const INLINE =
  /^(?:-\w*[ceErR]|-[ceE].+|-\w+\W.*|--?(?:[a-z]+-)?(?:eval|expr|print|execute|command|run|cmd|batch|require|import|load|call)(?:-[a-z]+)?(?:=.*)?|eval|-i?ex|-B|data:.*)$/s;
const QUOTED = /(["'`])([^"'`\n]{1,200})\1/g;
/** Without quotes only what cannot be anything but a path: `/x`, `./x`, `~/x`, `.env`. */
const BARE_PATH = /(?:^|[\s([{<=,;:|])((?:\.{1,2}\/|~\/|\/|\.)[\w@%+~-][\w./@%+~-]*)/g;
const CHANGING = /write|append|unlink|remove|rmtree|rename|truncate|copy|mkdir|symlink|["'][wax]\+?b?["']|>/i;

/** Where the interpreter stands that a command is, or that it may start; -1 if there is none. */
export function interpreterAt(argv: readonly string[]): number {
  const [name = ''] = argv;
  const { code, wraps, runsAfter, runsText, isShell } = programOf(name);
  if (code !== undefined) return 0;
  const mayRun = (wraps ?? runsAfter ?? runsText ?? isShell) !== undefined || isUnknownProgram(name);
  return mayRun ? argv.findIndex((word) => programOf(word).code !== undefined) : -1;
}

/** True when what a command is fed with may be run as code. */
export function isFedCode(argv: readonly string[]): boolean {
  const at = interpreterAt(argv);
  return at !== -1 && programOf(argv[at] ?? '').code?.readsData !== true;
}

/** The names of files in the code that a command is given: a courtesy, not a promise. */
export function namesInCode(argv: readonly string[]): readonly string[] {
  const texts = codeOf(argv);
  if (texts.length === 0) return [];
  const isBare = hasBareNames(argv);
  return texts.flatMap((text) => namesIn(text, { isBare }));
}

/** Those of them that the code may change. */
export function changedInCode(argv: readonly string[]): readonly string[] {
  const texts = codeOf(argv).filter((text) => CHANGING.test(text));
  if (texts.length === 0) return [];
  const isBare = hasBareNames(argv);
  return texts.flatMap((text) => namesIn(text, { isBare }));
}

/** The names of files in a text that is fed to an interpreter, and whether it may change them. */
export function namesInText(text: string): { readonly names: readonly string[]; readonly mayChange: boolean } {
  return { names: namesIn(text, { isBare: false }), mayChange: CHANGING.test(text) };
}

/** Where code may be: the words of an interpreter, and those of a program nobody knows. */
function codeOf(argv: readonly string[]): readonly string[] {
  return isUnknownProgram(argv[0] ?? '') || interpreterAt(argv) !== -1 ? argv.slice(1) : [];
}

function hasBareNames(argv: readonly string[]): boolean {
  return programOf(argv[interpreterAt(argv)] ?? '').code?.hasBareNames === true;
}

function namesIn(text: string, { isBare }: { readonly isBare: boolean }): readonly string[] {
  const quoted = [...text.matchAll(QUOTED)].map((found) => found[2] ?? '');
  const paths = [...text.matchAll(BARE_PATH)].map((found) => found[1] ?? '');
  return [...quoted, ...paths, ...(isBare ? text.split(/[\s()[\]{}<>"'`;,|=]+/).filter((word) => word !== '') : [])];
}
