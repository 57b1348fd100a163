import { resolve } from 'node:path';
import type { ScriptStart } from '../contracts/display.ts';
import type { Decision, ToolFacts } from '../contracts/permission.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import { readRegularFileSync } from '../lib/files/read-regular-file.ts';
import { describeProgramFile, listProgramFiles } from '../lib/programs/program-files.ts';
import type { PermissionFs } from './permission-fs.ts';
import { resolvePath } from './resolve-path.ts';
import { getShellAnalysis } from './shell/analyze.ts';
import { collectShellEffects } from './shell/effects/collect-shell-effects.ts';
import { findSizeProblem } from './shell/parse/check-source.ts';
import { getProgramBaseName } from './shell/parse/shell-words.ts';
import { findProgramFacts } from './shell/programs/find-program-facts.ts';

/** The hashes of scripts by their path. */
export type ScriptHashes = ReadonlyMap<string, string>;

/**
 * Lists the scripts that a command names, with the hash of what they contain: programs given by a path, and the files
 * that shells and interpreters get. A question and its answer are about this content.
 */
export function listNamedScripts(
  facts: Pick<ToolFacts, 'kind' | 'command' | 'shell'>,
  cwd: string,
  fs: PermissionFs,
): ScriptHashes {
  const { kind, command } = facts;
  if (kind !== 'shell' || command === undefined || findSizeProblem(command) !== undefined) return new Map();
  const { parse } = getShellAnalysis(facts);
  const { commands, reads } = collectShellEffects(parse(command), parse);
  const runners = commands.map(({ argv }) => argv).filter(([word = '']) => runsFiles(word));
  const scripts = commands.flatMap(({ argv }) => listScripts(argv));
  const names = [...new Set([...scripts, ...(runners.length > 0 ? reads : [])])];
  if (names.length === 0 && runners.length === 0) return new Map();
  const words = [...new Set(commands.flatMap(({ argv }) => argv))];
  const list = (kind: 'file' | 'directory', base: string, listed: readonly string[]) =>
    listed
      .filter((word) => mayHave(fs, base, word))
      .map((word) => resolve(base, word))
      .filter((path) => resolvePath(fs, { cwd, home: cwd }, path).kind === kind);
  const listFolders = (base: string) => list('directory', base, words);
  const entered = listFolders(cwd);
  // A line may change the folder twice: `cd a; cd b`.
  const folders = [...new Set([cwd, ...entered, ...entered.flatMap(listFolders)])];
  const starts = runners.some(hasUnknownScript) ? [{ line: command }] : runners.map((argv) => ({ argv }));
  const files = [
    ...folders.flatMap((folder) => list('file', folder, names)).map(describeProgramFile),
    ...starts.flatMap((start) =>
      listProgramFiles({ command: start, cwd, variables: {} }, (path) => isPathBelow(cwd, path)),
    ),
  ];
  return new Map(files.flatMap((file) => (file === undefined ? [] : [[file.path, `${file.real} ${file.hash}`]])));
}

/** Returns whether a folder may have an entry of a name. Most names of a long line are in none of its folders. */
function mayHave(fs: PermissionFs, folder: string, name: string): boolean {
  const [first = ''] = name.split('/', 1);
  try {
    return fs.lstat(resolve(folder, first)) !== undefined;
  } catch {
    return true;
  }
}

function listScripts([word = '', ...args]: readonly string[]): readonly string[] {
  const script = runsFiles(word) ? args.filter((arg) => !arg.startsWith('-')) : [];
  // Runners of scripts of the project run a file, too, if there is one.
  const first = findProgramFacts(getProgramBaseName(word)).runsProjectScripts === true ? args.slice(0, 1) : [];
  return word.includes('/') ? [word, ...script] : [...script, ...first];
}

function runsFiles(word: string): boolean {
  const { isShell, interpreter, changesShellState, reads } = findProgramFacts(getProgramBaseName(word));
  // `source` changes the shell by the file that it reads.
  return isShell === true || interpreter !== undefined || (changesShellState === true && reads !== undefined);
}

/** True if the input of a shell or interpreter is its script, or its name is known only when the line runs. */
function hasUnknownScript([word = '', ...args]: readonly string[]): boolean {
  const { isShell, interpreter } = findProgramFacts(getProgramBaseName(word));
  if (isShell !== true && (interpreter === undefined || interpreter.inputIsData === true)) return false;
  const isCode = (index: number) => /^-\w*[cep]$/.test(args[index - 1] ?? '');
  return (
    args.every((arg) => /^-\w?$/.test(arg)) ||
    args.some((arg, index) => !isCode(index) && /^[^\s-]*[$`*?[]\S*$/.test(arg))
  );
}

const MAX_SCRIPTS = 5;
const MAX_LINES = 40;
const MAX_LINE_CHARS = 500;

/** Reads the beginnings of scripts for a question; programs that are not text are left out. */
export function readScriptStarts(scripts: ScriptHashes): readonly ScriptStart[] {
  return [...scripts.keys()].slice(0, MAX_SCRIPTS).flatMap((path) => {
    const text = readTextOrUndefined(path);
    if (text === undefined || text.includes('\0')) return [];
    const lines = text.replace(/\n$/, '').split('\n');
    const shown = lines.slice(0, MAX_LINES).map((line) => line.slice(0, MAX_LINE_CHARS).toWellFormed());
    return [{ path, lines: shown, moreLines: lines.length - shown.length }];
  });
}

function readTextOrUndefined(path: string): string | undefined {
  try {
    return readRegularFileSync(path).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Returns the first script that is not as it was. */
export function findChangedScript(before: ScriptHashes, now: ScriptHashes): string | undefined {
  return [...now].find(([path, hash]) => (before.get(path) ?? hash) !== hash)?.[0];
}

/** Turns what a rule allows into a question, since a script is another one than the answer was about. */
export function askAboutChangedScript(decision: Decision, path: string): Decision {
  const text = `${path} has changed since you agreed to run it, so the answer does not cover it any more.`;
  return {
    ...decision,
    verdict: 'ask',
    reasons: [text],
    trace: [...decision.trace, { stage: 'facts', verdict: 'ask', text }],
  };
}
