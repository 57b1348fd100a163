import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type IgnoreRules, readIgnore } from '../../lib/patterns/gitignore.ts';
import { splitLines } from '../../lib/text/lines.ts';
import { compileGlob } from './glob-pattern.ts';

export type WalkRules = {
  readonly hidden: 'include' | 'skip';
  /** Only files it matches, but those even when ignored or hidden: ripgrep's `--glob`. */
  readonly only?: string;
  readonly never: readonly string[];
  /** Also what the ignore files leave out. */
  readonly ignored?: 'listed';
};

type IgnoreFile = { readonly directory: string; readonly rules: IgnoreRules };

const IGNORE_FILES = ['.gitignore', '.ignore', '.rgignore'];

/** Every file below a directory that the ignore files leave, in no certain order. Links are not followed. */
export async function* walk(root: string, rules: WalkRules, signal: AbortSignal): AsyncGenerator<string> {
  // Loaded only where there is no ripgrep.
  const { default: glob } = await import('fast-glob');
  signal.throwIfAborted();
  const keeps = keeping(rules);
  const ignoresOf = new Map([[path.dirname(root), await ignoreFilesAbove(root)]]);

  /** What of a directory may be seen: fast-glob never enters what is missing here. */
  async function entriesOf(directory: string) {
    signal.throwIfAborted();
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries.map((entry) => entry.name);
    const above = ignoresOf.get(path.dirname(directory)) ?? [];
    const ignores = [...above, ...(await ignoreFilesIn(directory, names))];
    ignoresOf.set(directory, ignores);
    return entries.filter((entry) => {
      if (entry.isSymbolicLink() || entry.name === '.git') return false;
      const full = path.join(directory, entry.name);
      const isFolder = entry.isDirectory();
      const inside = path.relative(root, full).split(path.sep).join('/');
      return keeps(inside, isFolder ? 'folder' : 'file', () => isIgnored(full, isFolder, ignores));
    });
  }

  const found = glob.stream('**', {
    cwd: root,
    dot: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    unique: false,
    fs: { readdir: listed(entriesOf) },
  });
  for await (const file of found) {
    signal.throwIfAborted();
    yield String(file);
  }
  signal.throwIfAborted();
}

type Listed<Entry> = (problem: Error | null, entries: Entry[]) => void;

/** A way to read directories in the two forms of `fs.readdir`. */
function listed(entriesOf: (directory: string) => Promise<Dirent[]>) {
  function read(directory: string, options: { readonly withFileTypes: true }, done: Listed<Dirent>): void;
  function read(directory: string, done: Listed<string>): void;
  function read(directory: string, second: { readonly withFileTypes: true } | Listed<string>, done?: Listed<Dirent>) {
    const answer = (problem: Error | null, entries: Dirent[]) => {
      if (typeof second !== 'function') return done?.(problem, entries);
      const names = entries.map(({ name }) => name);
      return second(problem, names);
    };
    entriesOf(path.resolve(directory)).then(
      (entries) => answer(null, entries),
      (problem) => answer(problem, []),
    );
  }
  return read;
}

/** Does a path below the root belong to the walk? Compared with the exclusions without case. */
function keeping({ hidden, only, never: excluded, ignored }: WalkRules) {
  const never = excluded.map((pattern) => compileGlob(pattern.toLowerCase()));
  const isInverted = only?.startsWith('!') ?? false;
  const glob = only === undefined ? undefined : compileGlob(isInverted ? only.slice(1) : only);
  return (inside: string, kind: 'file' | 'folder', isIgnoredThere: () => boolean): boolean => {
    if (never.some((matches) => matches(inside.toLowerCase()))) return false;
    const isMatch = glob?.(inside) ?? false;
    if (isMatch) return !isInverted;
    if (hidden === 'skip' && path.posix.basename(inside).startsWith('.')) return false;
    if (ignored === undefined && isIgnoredThere()) return false;
    return kind === 'folder' || isInverted || glob === undefined;
  };
}

function isIgnored(full: string, isDirectory: boolean, files: readonly IgnoreFile[]): boolean {
  // The nearest file that has an opinion decides.
  for (const { directory, rules } of files.toReversed()) {
    const inside = path.relative(directory, full).split(path.sep).join('/');
    const said = rules(isDirectory ? `${inside}/` : inside);
    if (said !== undefined) return said === 'ignored';
  }
  return false;
}

async function ignoreFilesAbove(root: string): Promise<readonly IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  let directory = root;
  // Up to the repository's own directory, as git does.
  while (path.dirname(directory) !== directory && !(await isThere(path.join(directory, '.git')))) {
    directory = path.dirname(directory);
    found.unshift(...(await ignoreFilesIn(directory, IGNORE_FILES)));
  }
  return found;
}

async function ignoreFilesIn(directory: string, names: readonly string[]): Promise<readonly IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  for (const name of IGNORE_FILES) {
    if (!names.includes(name)) continue;
    const text = await readFile(path.join(directory, name), 'utf8').catch(() => undefined);
    if (text !== undefined) found.push({ directory, rules: readIgnore(splitLines(text)) });
  }
  return found;
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
