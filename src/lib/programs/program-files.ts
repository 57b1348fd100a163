import { createHash } from 'node:crypto';
import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { readRegularFileSync } from '../files/read-regular-file.ts';
import type { ProgramStart } from '../processes/program-check.ts';
import { hasInterpreter, listFoldersAbove, listImplicitFiles, listMainFiles, loadsFilesOf } from './implicit-files.ts';
import { listScriptWords, listStartWords, type Surroundings } from './start-words.ts';

/** A file that a start runs: its path, the file that links lead to, and the hash of its content. */
export type ProgramFile = { readonly path: string; readonly real: string; readonly hash: string };

/**
 * Lists the files that a start runs and that others than the user can change: the program, its interpreter, and every
 * file that its words name, also in nested lines. It names too many rather than too few, since lines are not parsed but
 * split, and each word counts in each folder that the line names. Files that these files load are not followed.
 */
export function listProgramFiles(
  { command, cwd, variables, entryVariables = [] }: ProgramStart,
  isChangeable: (path: string) => boolean,
): readonly ProgramFile[] {
  const surroundings = { cwd, variables };
  const words = [
    ...listStartWords(command, surroundings),
    ...entryVariables.flatMap((name) =>
      listSteeringWords(name, variables[name] ?? '', (path) => isChangeable(resolve(cwd, path))),
    ),
  ];
  const found = new Map<string, ProgramFile>();
  const add = (path: string, depth: number): void => {
    if (found.has(path) || depth > MAX_DEPTH || found.size >= MAX_FILES) return;
    const file = describeProgramFile(path);
    if (file === undefined) return;
    if (isChangeable(file.path) || isChangeable(file.real)) found.set(path, file);
    for (const next of listInterpreterFiles(path, surroundings)) add(next, depth + 1);
  };
  const text = 'line' in command ? command.line : command.argv.join(' ');
  for (const path of listCandidates(words, text, surroundings)) add(path, 0);
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const MAX_DEPTH = 4;
const MAX_FILES = 200;

/** Describes a regular file by the name that was used and by its content; `undefined` for anything else. */
export function describeProgramFile(path: string): ProgramFile | undefined {
  // Most paths that words may name do not exist, and errors are slow.
  if (getPathStats(path)?.isFile() !== true) return undefined;
  try {
    const real = realpathSync(path);
    return { path: join(realpathSync(dirname(path)), basename(path)), real, hash: hashContent(real) };
  } catch {
    return undefined;
  }
}

function hashContent(path: string): string {
  try {
    return createHash('sha256').update(readRegularFileSync(path)).digest('hex');
  } catch {
    // Such a file is never approved.
    return 'unreadable';
  }
}

/** Variables that make programs load or start files. */
const STEERING =
  /^(?:PATH|ENV|BASH_ENV|ZDOTDIR|HOME|XDG_CONFIG_\w+|NODE_(?:OPTIONS|PATH)|BUN_\w+|DENO_\w+|(?:LD|DYLD|PYTHON|PERL|RUBY|GEM|BUNDLE|LUA|PHP|npm_config|YARN|PNPM|UV|CARGO|GIT|DOTNET)\w*|CLASSPATH|VIRTUAL_ENV)$/i;

/** Returns whether a variable makes programs load or start files. */
export const isSteeringVariable = (name: string): boolean =>
  STEERING.test(name) || (/^\w*OPTIONS$/i.test(name) && /JAVA/i.test(name));

/** Lists the paths in the value of a variable that its entry sets, and what is loaded from folders among them. */
function listSteeringWords(name: string, value: string, isChangeable: (path: string) => boolean): readonly string[] {
  if (!isSteeringVariable(name)) return [];
  const parts = value.split(/[\s:;,=]+/).filter((part) => part !== '' && !/^\.?\/?$/.test(part));
  return [
    `${name}=${value}`,
    ...parts.filter(isChangeable).flatMap((part) => [part, ...LOADED.map((loaded) => `${part}/${loaded}`)]),
  ];
}

const LOADED = ['*', '.npmrc', '*/__init__.py', '*/package.json', '*/index.js', 'npm/npmrc'];

/** The words of a start: what they may name, and the folders in which they may name it. */
type StartNames = {
  readonly names: readonly string[];
  readonly folders: readonly string[];
  readonly bases: readonly string[];
};

function readStartNames(words: readonly string[], { cwd, variables }: Surroundings): StartNames {
  const names = words.flatMap((word) => [
    word,
    ...[...word.matchAll(/=/g)].map(({ index }) => word.slice(index + 1)),
    ...(/^-[^-]./.test(word) ? [word.slice(2)] : []),
    ...(word.startsWith('file://') ? [word.slice('file://'.length)] : []),
    // The line may set HOME to one of its folders.
    ...(word.startsWith('~/') ? [word.slice('~/'.length)] : []),
  ]);
  const listFolders = (base: string) =>
    names.map(createResolve(base, variables)).filter((path) => getPathStats(path)?.isDirectory() === true);
  const folders = listFolders(cwd);
  // A line may change the folder twice: `cd a; cd b`.
  const bases = [...new Set([cwd, ...folders, ...folders.flatMap(listFolders)])].slice(0, MAX_FOLDERS);
  return { names, folders, bases };
}

const createResolve =
  (folder: string, variables: Surroundings['variables']) =>
  (name: string): string =>
    name === '~' || name.startsWith('~/') ? join(variables.HOME ?? '/', name.slice(1)) : resolve(folder, name);

/** Lists the programs that a start may name, and the folders in which they may run. */
export function listStartPlaces({ command, cwd, variables }: ProgramStart) {
  const surroundings = { cwd, variables };
  const words = listStartWords(dropTexts(command), surroundings);
  return { words, folders: readStartNames(words, surroundings).bases };
}

/** Drops quoted texts of several words, in which programs are only mentioned unless something runs them. */
const dropTexts = (command: ProgramStart['command']): ProgramStart['command'] =>
  'argv' in command || /(?<!\S)(?:-\w*c|eval|xargs|exec|parallel|watch)(?!\S)/.test(command.line)
    ? command
    : { line: command.line.replaceAll(/"[^"$`]*"|'[^']*'/g, (text) => (/\s/.test(text) ? ' ' : text)) };

/**
 * Returns whether a program loads configuration or modules that nothing names from a folder that others than the user
 * can change: what runs is then that of the folder.
 */
export function loadsChangeableFiles(start: ProgramStart, isChangeable: (path: string) => boolean): boolean {
  const { words, folders } = listStartPlaces(start);
  return folders
    .filter(isChangeable)
    .some((folder) => loadsFilesOf(listFoldersAbove(folder).filter(isChangeable), words));
}

/** Lists the paths that words may name: as they are, after `=` or an option letter, and on PATH. */
function listCandidates(words: readonly string[], text: string, { cwd, variables }: Surroundings): readonly string[] {
  const { names, folders, bases } = readStartNames(words, { cwd, variables });
  const resolveIn = (folder: string) => createResolve(folder, variables);
  const searchPaths = words.filter((word) => word.startsWith('PATH=')).map((word) => word.slice('PATH='.length));
  const searched = [...searchPaths, variables.PATH ?? ''].flatMap((path) => path.split(':')).map(resolveIn(cwd));
  const onPath = names
    .filter((name) => !name.includes('/'))
    .flatMap((name) => searched.map((folder) => join(folder, name)).find(isExecutableFile) ?? []);
  return [
    ...new Set([
      ...onPath,
      ...bases.flatMap((base) => names.map(resolveIn(base)).filter((path) => !isData(path))),
      ...bases.flatMap((base) => listScriptWords(words, text).map(resolveIn(base))),
      ...bases.flatMap((base) => names.flatMap((name) => listMatches(resolveIn(base)(name)))),
      ...bases.flatMap((base) => listImplicitFiles(names, base)),
      ...(hasInterpreter(names) ? folders.flatMap(listMainFiles) : []),
      ...(names.some((name) => basename(name) === 'run-parts')
        ? folders.flatMap((folder) => listMatches(join(folder, '*')))
        : []),
    ]),
  ];
}

const MAX_FOLDERS = 20;
const MAX_MATCHES = 100;

/** Lists the files that a path with patterns may match. */
function listMatches(path: string): readonly string[] {
  return /[*?[]/.test(path) ? expandPattern(path).filter((file) => !isData(file)) : [];
}

function expandPattern(path: string): readonly string[] {
  const [folder, pattern] = [dirname(path), basename(path)];
  const folders = /[*?[]/.test(folder) ? expandPattern(folder) : [folder];
  if (!/[*?[]/.test(pattern)) return folders.map((one) => join(one, pattern));
  return folders.flatMap((one) => listNamesLike(one, pattern)).slice(0, MAX_MATCHES);
}

function listNamesLike(folder: string, pattern: string): readonly string[] {
  const source = pattern
    .replaceAll(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll(/\[[^\]]*\]?|\?/g, '.')
    .replaceAll('*', '.*');
  const test = new RegExp(`^${source}$`, 's');
  try {
    const names = readdirSync(folder).filter(
      (name) => test.test(name) && (name.startsWith('.') ? pattern.startsWith('.') : true),
    );
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Endings of files that no program runs. A file that is executable or names an interpreter counts all the same. */
const DATA = new Set('.txt .md .log .csv .tsv .out .pid .lock .db .sqlite .png .jpg .svg .html .css'.split(' '));

/** Returns whether a file is data: it changes all the time, and runs only if it says so itself. */
function isData(path: string): boolean {
  return DATA.has(extname(path).toLowerCase()) && !isExecutableFile(path) && readInterpreterLine(path) === undefined;
}

/** Returns the facts of what a path leads to; `undefined` if it leads to nothing, such as a text that is too long. */
function getPathStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isExecutableFile(path: string): boolean {
  const stats = getPathStats(path);
  return stats?.isFile() === true && (stats.mode & 0o111) !== 0;
}

/** Lists the programs and files of the first line of a script: `#!/usr/bin/env node`. */
function listInterpreterFiles(path: string, { cwd, variables }: Surroundings): readonly string[] {
  const line = readInterpreterLine(path);
  if (line === undefined) return [];
  const words = line.split(/\s+/).filter((word) => word !== '');
  const onPath = words.slice(1).flatMap(
    (word) =>
      (variables.PATH ?? '')
        .split(':')
        .map((folder) => join(folder, word))
        .find(isExecutableFile) ?? [],
  );
  return [...words.map((word) => resolve(cwd, word)), ...onPath];
}

const MAX_INTERPRETER_LINE = 512;

function readInterpreterLine(path: string): string | undefined {
  const head = readText(path).slice(0, MAX_INTERPRETER_LINE);
  return head.startsWith('#!') ? head.slice(2).split('\n')[0] : undefined;
}

/** Returns the text of a file; nothing if it cannot be read. */
function readText(path: string): string {
  try {
    return readRegularFileSync(path).toString('latin1');
  } catch {
    return '';
  }
}

/** Returns whether others than the user can change a path: it or a folder above is theirs, or writable by everybody. */
export function isChangeableByOthers(path: string): boolean {
  const user = process.getuid?.();
  if (user === undefined) return false;
  // Root often works in folders of the user of a container.
  const isForeign = ({ uid }: Stats) => user !== 0 && uid !== user && uid !== 0;
  for (let current = path; ; current = dirname(current)) {
    const stats = getPathStats(current);
    // In a folder with the sticky bit, such as /tmp, only the owner of a file can replace it.
    const isWritable = stats !== undefined && (stats.mode & 0o002) !== 0 && (stats.mode & 0o1000) === 0;
    if (stats !== undefined && (isForeign(stats) || isWritable)) return true;
    if (current === dirname(current)) return false;
  }
}
