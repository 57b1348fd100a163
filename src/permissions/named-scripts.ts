import { dirname, extname, resolve } from 'node:path';
import type { ScriptStart } from '../contracts/display.ts';
import type { Decision, ToolFacts } from '../contracts/permission.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import { readRegularFileSync } from '../lib/files/read-regular-file.ts';
import { memoizeByKey } from '../lib/memoize.ts';
import { describeProgramFile, isSteeringVariable, listProgramFiles } from '../lib/programs/program-files.ts';
import { diskFs, type PermissionFs } from './permission-fs.ts';
import { resolvePath } from './resolve-path.ts';
import { type CommandFacts, getShellAnalysis } from './shell/analyze.ts';
import { collectShellEffects, type ReachableCommand } from './shell/effects/collect-shell-effects.ts';
import { findSizeProblem } from './shell/parse/check-source.ts';
import { getProgramBaseName } from './shell/parse/shell-words.ts';
import { findProgramFacts } from './shell/programs/find-program-facts.ts';
import { readTaskLines } from './shell/programs/package-scripts.ts';
import { describeTaskKey, hasProjectTasks, listProjectTasks, UNKNOWN_PARTS } from './shell/programs/project-tasks.ts';

/** The hashes of scripts by their path. */
export type ScriptHashes = ReadonlyMap<string, string>;

/** A search through a line, and through the lines of the tasks that it runs. */
type ScriptSearch = {
  readonly fs: PermissionFs;
  readonly depth: number;
  readonly found: Map<string, string>;
  /** The lines of tasks so far, with their folders. */
  readonly lines: Set<string>;
};

const MAX_DEPTH = 8;
const MAX_FOUND = 200;

/**
 * Lists the scripts that a command names, with the hash of what they contain: programs given by a path, the files that
 * shells and interpreters get, and tasks of the project with what these name. A question and its answer are about this
 * content.
 */
export function listNamedScripts(
  facts: Pick<ToolFacts, 'kind' | 'command' | 'shell'>,
  cwd: string,
  fs: PermissionFs,
): ScriptHashes {
  const found = new Map<string, string>();
  if (facts.kind === 'shell') addScripts(facts, cwd, { fs, depth: 0, found, lines: new Set() });
  return found;
}

function addScripts(facts: CommandFacts, cwd: string, search: ScriptSearch): void {
  const { command } = facts;
  const { fs, depth, found } = search;
  if (command === undefined || findSizeProblem(command) !== undefined) return;
  const { commands, reads } = depth === 0 ? collectCommands(facts, command) : collectTaskCommands(command);
  const runners = commands.map(({ argv }) => argv).filter(([word = '']) => runsFiles(word));
  const scripts = commands.flatMap(({ argv, via }) => listScripts(argv, via));
  const assigned = depth === 0 ? listAssignedFiles(command, commands) : [];
  const names = [...new Set([...scripts, ...assigned, ...(runners.length > 0 ? reads : [])])];
  const taskRunners = commands.filter(({ argv: [word = ''] }) => hasProjectTasks(word));
  if (names.length === 0 && runners.length === 0 && taskRunners.length === 0) return;
  const words = [...new Set(commands.flatMap(({ argv }) => argv))].flatMap((word) => [
    word,
    ...(/^--?[\w-]+=/.test(word) ? [word.slice(word.indexOf('=') + 1)] : []),
  ]);
  const list = (kind: 'file' | 'directory', base: string, listed: readonly string[]) =>
    listed
      .filter((word) => mayHave(fs, base, word))
      .map((word) => resolve(base, word))
      .filter((path) => resolvePath(fs, { cwd, home: cwd }, path).kind === kind);
  const listFolders = (base: string) => list('directory', base, words);
  const entered = listFolders(cwd);
  // A line may change the folder twice: `cd a; cd b`.
  const folders = [...new Set([cwd, ...entered, ...entered.flatMap(listFolders)])];
  const named = folders.flatMap((folder) => list('file', folder, names)).map(describeProgramFile);
  const starts = [
    ...(runners.some(hasUnknownScript) ? [{ line: command }] : runners.map((argv) => ({ argv }))),
    // The first line of a script may name another one as its interpreter.
    ...commands.flatMap(({ argv: [word = ''] }) => (word.includes('/') ? [{ argv: [word] }] : [])),
  ];
  // The files of a task are those that it names; a search for all that its words may mean takes longer than the rest.
  const searched = depth > 0 && named.length > 0 ? [] : starts;
  const files = searched.flatMap((start) =>
    listProgramFiles({ command: start, cwd, variables: {} }, (path) => isPathBelow(cwd, path)),
  );
  for (const file of [...named, ...files]) {
    if (file === undefined || found.has(file.path)) continue;
    found.set(file.path, `${file.real} ${file.hash}`);
    addSourcedScripts(file.path, cwd, search);
  }
  const tasks = taskRunners.flatMap(({ argv }) => listProjectTasks(argv, mayMove(commands) ? folders : [cwd], fs));
  for (const { key, hash, folder, lines } of tasks) {
    if (found.has(key) || found.size > MAX_FOUND) continue;
    found.set(key, hash);
    for (const line of depth < MAX_DEPTH ? lines : []) {
      const place = `${folder}\n${line}`;
      if (search.lines.has(place)) continue;
      search.lines.add(place);
      addScripts({ command: line }, folder, { ...search, depth: depth + 1 });
    }
  }
}

/** Adds the scripts that a shell script names: it runs them as if they were part of it. */
function addSourcedScripts(path: string, cwd: string, search: ScriptSearch): void {
  if (search.depth >= MAX_DEPTH || search.found.size > MAX_FOUND || !/^$|^\.(?:ba|z|k)?sh$/.test(extname(path))) return;
  const text = readTextOrUndefined(path) ?? '';
  if (text.includes('\0') || /^#!(?!.*sh\b)/.test(text) || findSizeProblem(text) !== undefined) return;
  const { commands } = collectTaskCommands(text);
  const lines = commands.filter(({ argv: [word = ''] }) => runsShellFiles(word));
  const bases = [cwd, dirname(path)];
  // It may change the folder before: `cd lib; . ./a.sh`.
  const entered = commands.flatMap(({ argv: [word = '', ...args] }) =>
    findProgramFacts(word).changesCwd === true
      ? args.flatMap((arg) => bases.map((base) => resolve(base, arg.replace(LEADING_EXPANSION, ''))))
      : [],
  );
  const folders = new Set([...bases, ...entered]);
  for (const name of lines.flatMap(({ argv, via }) => listScripts(argv, via)))
    for (const folder of folders) {
      // `. "$(dirname "$0")/lib.sh"` names a file beside the script.
      const file = describeProgramFile(resolve(folder, name.replace(LEADING_EXPANSION, '')));
      if (file === undefined || search.found.has(file.path)) continue;
      search.found.set(file.path, `${file.real} ${file.hash}`);
      addSourcedScripts(file.path, cwd, { ...search, depth: search.depth + 1 });
    }
}

const LEADING_EXPANSION = /^["']?\$.*[)}]\//;

/** Returns whether a command runs a shell script: `. lib.sh`, `bash lib.sh`, `./lib.sh`. */
function runsShellFiles(word: string): boolean {
  const { isShell, changesShellState, reads } = findProgramFacts(getProgramBaseName(word));
  return isShell === true || (changesShellState === true && reads !== undefined) || word.includes('/');
}

/** Lists the files that the variables of a line have programs run: `BASH_ENV=x.sh make`, `NODE_OPTIONS='-r ./x.js' vite`. */
function listAssignedFiles(command: string, commands: readonly ReachableCommand[]): readonly string[] {
  const assignments = [...command.matchAll(/(?<![\w-])([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;&|]*)/g)];
  return assignments.flatMap(([, name = '', value = '']) => {
    if (!isSteeringVariable(name) && !PROGRAM_VARIABLE.test(name)) return [];
    const parts = value.split(/[\s:;,="']+/).filter((part) => part !== '');
    // Programs are found in the folders of PATH by their names.
    const found = name === 'PATH' ? commands.map(({ argv: [word = ''] }) => word) : STARTUP_MODULES;
    return parts.flatMap((part) => [
      part,
      ...(/^-[A-Za-z]./.test(part) ? [part.slice(2)] : []),
      ...found.map((file) => `${part}/${file}`),
    ]);
  });
}

/** Variables that name a program to run. */
const PROGRAM_VARIABLE =
  /(?:EDITOR|PAGER|BROWSER|ASKPASS|MAKEFILES|COMMAND|WRAPPER|LAUNCHER|LINKER|RUNNER|SHELL)$|^(?:CC|CXX|CPP|LD|AR|AS|RUSTC|RUSTDOC)$/;

/** Modules that Python loads from its search path at every start. */
const STARTUP_MODULES = ['sitecustomize.py', 'usercustomize.py'];

function collectCommands(facts: CommandFacts, command: string) {
  const { parse } = getShellAnalysis(facts);
  return collectShellEffects(parse(command), parse);
}

/** Collects the commands of the line of a task, which is the same most of the time. */
const collectTaskCommands = memoizeByKey((command) => collectCommands({ command }, command));

/** Returns whether a line may run a task in another folder: one of its commands changes the folder, or an option. */
const mayMove = (commands: readonly ReachableCommand[]) =>
  commands.length > 1 ||
  commands.some(({ argv }) => argv.some((arg) => arg.startsWith('-') || arg.startsWith('workspace')));

/** Returns whether a folder may have an entry of a name. Most names of a long line are in none of its folders. */
function mayHave(fs: PermissionFs, folder: string, name: string): boolean {
  const [first = ''] = name.split('/', 1);
  try {
    return fs.lstat(resolve(folder, first)) !== undefined;
  } catch {
    return true;
  }
}

function listScripts([word = '', ...args]: readonly string[], via: string): readonly string[] {
  const script = runsFiles(word)
    ? args.map((arg) => arg.replace(/^--?[\w-]+=/, '')).filter((arg) => !arg.startsWith('-'))
    : [];
  // Runners of scripts of the project run a file, too, if there is one.
  const first = findProgramFacts(getProgramBaseName(word)).runsProjectScripts === true ? args.slice(0, 1) : [];
  // `uv run x.py` takes a file of the folder, too.
  const isFile = word.includes('/') || (via !== '' && /\.\w+$/.test(word));
  // `hash -p ./x ls` and `set -- ./x` prepare what later commands run.
  const { changesShellState, wrapper } = findProgramFacts(word);
  const prepared = changesShellState === true && wrapper === undefined ? args.filter((arg) => arg.includes('/')) : [];
  return isFile ? [word, ...script] : [...script, ...first, ...prepared];
}

function runsFiles(word: string): boolean {
  const { isShell, interpreter, changesShellState, reads } = findProgramFacts(getProgramBaseName(word));
  if (evaluatesArgs(word)) return true;
  // `source` changes the shell by the file that it reads.
  return isShell === true || interpreter !== undefined || (changesShellState === true && reads !== undefined);
}

/** Returns whether the arguments of a shell builtin are its script. */
function evaluatesArgs(word: string): boolean {
  const { changesShellState, inlineScripts } = findProgramFacts(word);
  return changesShellState === true && inlineScripts === 'joined';
}

/** True if the input of a shell or interpreter is its script, or its name is known only when the line runs. */
function hasUnknownScript([word = '', ...args]: readonly string[]): boolean {
  const { isShell, interpreter } = findProgramFacts(getProgramBaseName(word));
  if (isShell !== true && !evaluatesArgs(word) && (interpreter === undefined || interpreter.inputIsData === true))
    return false;
  const isCode = (index: number) => /^-\w*[cep]$/.test(args[index - 1] ?? '');
  return (
    args.every((arg) => /^-\w?$/.test(arg)) ||
    args.some((arg, index) => !isCode(index) && (arg === '{}' || /^[^\s$`*?[-]*[$`*?[]\S*$/.test(arg)))
  );
}

/** Returns whether a command runs scripts that another program finds: `find . -exec bash {} \;`, `xargs -n1 node`. */
export function runsFoundScripts(facts: Pick<ToolFacts, 'kind' | 'command' | 'shell'>): boolean {
  if (facts.kind !== 'shell' || facts.command === undefined || findSizeProblem(facts.command) !== undefined)
    return false;
  return collectCommands(facts, facts.command).commands.some(({ argv: [word = '', ...args], via }) => {
    const { walksFolders, lists, inputBecomes } = findProgramFacts(via);
    if ((walksFolders ?? lists ?? inputBecomes) === undefined || !runsFiles(word)) return false;
    const hasCode = args.some((arg) => /^-\w*[cem]$/.test(arg));
    const script = args.find((arg) => !arg.startsWith('-'));
    return !hasCode && (script === undefined || script.includes('{}'));
  });
}

const MAX_SCRIPTS = 5;
const MAX_LINES = 40;
const MAX_LINE_CHARS = 500;

/** Reads the beginnings of scripts for a question; programs that are not text are left out. */
export function readScriptStarts(scripts: ScriptHashes): readonly ScriptStart[] {
  return [...scripts.keys()].slice(0, MAX_SCRIPTS).flatMap((key) => {
    const task = readTaskLines(key, diskFs);
    const text = task === undefined ? readTextOrUndefined(key) : task.lines.join('\n');
    if (text === undefined || text === '' || text.includes('\0')) return [];
    const lines = text.replace(/\n$/, '').split('\n');
    const shown = lines.slice(0, MAX_LINES).map((line) => line.slice(0, MAX_LINE_CHARS).toWellFormed());
    const entry = task === undefined ? {} : { entry: task.entry };
    return [{ path: task?.path ?? key, ...entry, lines: shown, moreLines: lines.length - shown.length }];
  });
}

function readTextOrUndefined(path: string): string | undefined {
  try {
    return readRegularFileSync(path).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Returns the first script that is not as it was; with `all`, also one that was not there. */
export function findChangedScript(
  before: ScriptHashes,
  now: ScriptHashes,
  known: 'all' | 'some' = 'some',
): string | undefined {
  return [...now].find(([key, hash]) => (before.get(key) ?? (known === 'some' ? hash : undefined)) !== hash)?.[0];
}

/** Returns the first script of which an answer could not see everything. */
export const findUnknownScript = (now: ScriptHashes): string | undefined =>
  [...now].find(([, hash]) => hash.startsWith(UNKNOWN_PARTS))?.[0];

/** Turns what a rule allows into a question, since the answer that stored it was about other scripts. */
export function askAboutScript(decision: Decision, key: string, before: ScriptHashes, now?: string): Decision {
  const name = describeTaskKey(key);
  const text = now?.startsWith(UNKNOWN_PARTS)
    ? `${name} includes files that are known only when it runs, so no earlier answer covers it.`
    : before.has(key)
      ? `${name} has changed since you agreed to run it, so the answer does not cover it any more.`
      : `The answer that allows this was not about ${name}.`;
  return {
    ...decision,
    verdict: 'ask',
    reasons: [text],
    trace: [...decision.trace, { stage: 'facts', verdict: 'ask', text }],
  };
}
