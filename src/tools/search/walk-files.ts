import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { type IgnoreRules, parseIgnoreRules } from '../../lib/patterns/glob.ts';
import { splitLines } from '../../lib/text/lines.ts';
import { IGNORE_FILES } from '../../permissions/paths/search-exclusions.ts';
import { compileGlob } from './globs.ts';

/** The files that a walk lists. */
export type WalkOptions = {
  readonly hidden: 'include' | 'skip';
  /** Glob that selects files, even ignored and hidden ones, like ripgrep's `--glob`. */
  readonly only?: string;
  readonly never: readonly string[];
  /** Includes files that ignore files exclude. */
  readonly ignored?: 'listed';
};

type IgnoreFile = { readonly directory: string; readonly rules: IgnoreRules };

/** Lists the files below a directory that are not ignored, in no particular order. Does not follow links. */
export async function* walkFiles(root: string, rules: WalkOptions, signal: AbortSignal): AsyncGenerator<string> {
  // Loaded only if ripgrep is not available.
  const { default: glob } = await import('fast-glob');
  signal.throwIfAborted();
  const isIncluded = createFilter(rules);
  const ignoresOf = new Map([[path.dirname(root), await ignoreFilesAbove(root)]]);

  /** Returns the included entries of a directory; fast-glob never enters the others. */
  async function listEntries(directory: string) {
    signal.throwIfAborted();
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries.map((entry) => entry.name);
    const above = ignoresOf.get(path.dirname(directory)) ?? [];
    const ignores = [...above, ...(await ignoreFilesIn(directory, names))];
    ignoresOf.set(directory, ignores);
    return entries.filter((entry) => {
      if (entry.isSymbolicLink() || entry.name === '.git') return false;
      const fullPath = path.join(directory, entry.name);
      const isFolder = entry.isDirectory();
      const relativePath = path.relative(root, fullPath).split(path.sep).join('/');
      return isIncluded(relativePath, isFolder ? 'folder' : 'file', () => isIgnored(fullPath, isFolder, ignores));
    });
  }

  const found = glob.stream('**', {
    cwd: root,
    dot: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    unique: false,
    fs: { readdir: createReaddir(listEntries) },
  });
  for await (const file of found) {
    signal.throwIfAborted();
    yield String(file);
  }
  signal.throwIfAborted();
}

type ReaddirCallback<Entry> = (problem: Error | null, entries: Entry[]) => void;

/** Creates a `readdir` function in both forms that fast-glob calls. */
function createReaddir(listEntries: (directory: string) => Promise<Dirent[]>) {
  function read(directory: string, options: { readonly withFileTypes: true }, done: ReaddirCallback<Dirent>): void;
  function read(directory: string, done: ReaddirCallback<string>): void;
  function read(
    directory: string,
    second: { readonly withFileTypes: true } | ReaddirCallback<string>,
    done?: ReaddirCallback<Dirent>,
  ) {
    const respond = (problem: Error | null, entries: Dirent[]) => {
      if (typeof second !== 'function') return done?.(problem, entries);
      const names = entries.map(({ name }) => name);
      return second(problem, names);
    };
    listEntries(path.resolve(directory)).then(
      (entries) => respond(null, entries),
      (problem) => respond(problem, []),
    );
  }
  return read;
}

/** Creates the filter for paths below the root; exclusions are compared without case. */
function createFilter({ hidden, only, never: excluded, ignored }: WalkOptions) {
  const never = excluded.map((pattern) => compileGlob(pattern.toLowerCase()));
  const isInverted = only?.startsWith('!') ?? false;
  const glob = only === undefined ? undefined : compileGlob(isInverted ? only.slice(1) : only);
  return (relativePath: string, kind: 'file' | 'folder', isIgnoredFile: () => boolean): boolean => {
    if (never.some((matches) => matches(relativePath.toLowerCase()))) return false;
    const isMatch = glob?.(relativePath) ?? false;
    if (isMatch) return !isInverted;
    if (hidden === 'skip' && path.posix.basename(relativePath).startsWith('.')) return false;
    if (ignored === undefined && isIgnoredFile()) return false;
    return kind === 'folder' || isInverted || glob === undefined;
  };
}

function isIgnored(fullPath: string, isDirectory: boolean, files: readonly IgnoreFile[]): boolean {
  // The nearest ignore file that matches decides.
  for (const { directory, rules } of files.toReversed()) {
    const relativePath = path.relative(directory, fullPath).split(path.sep).join('/');
    const verdict = rules(isDirectory ? `${relativePath}/` : relativePath);
    if (verdict !== undefined) return verdict === 'ignored';
  }
  return false;
}

async function ignoreFilesAbove(root: string): Promise<readonly IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  let directory = root;
  // Up to the root of the repository, as git does.
  while (path.dirname(directory) !== directory && !(await exists(path.join(directory, '.git')))) {
    directory = path.dirname(directory);
    found.unshift(...(await ignoreFilesIn(directory, IGNORE_FILES)));
  }
  return found;
}

async function ignoreFilesIn(directory: string, names: readonly string[]): Promise<readonly IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  for (const name of IGNORE_FILES) {
    if (!names.includes(name)) continue;
    const text = await readRegularFile(path.join(directory, name)).catch(() => undefined);
    if (text !== undefined) found.push({ directory, rules: parseIgnoreRules(splitLines(text)) });
  }
  return found;
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
