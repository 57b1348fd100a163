import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import createIgnore, { type Ignore } from 'ignore';
import { compileGlob } from './glob-pattern.ts';

export type WalkRules = {
  readonly hidden: 'include' | 'skip';
  /** Only files it matches, but those even when ignored or hidden: ripgrep's `--glob`. */
  readonly only?: string;
  readonly never: readonly string[];
  /** Also what the ignore files leave out. */
  readonly ignored?: 'listed';
};

type IgnoreFile = { readonly directory: string; readonly rules: Ignore };

const IGNORE_FILES = ['.gitignore', '.ignore', '.rgignore'];

/** Every file below a directory that the ignore files leave, in the order of names. Links are not followed. */
export async function* walk(root: string, rules: WalkRules, signal: AbortSignal): AsyncGenerator<string> {
  const never = rules.never.map((pattern) => compileGlob(pattern.toLowerCase()));
  const isInverted = rules.only?.startsWith('!') ?? false;
  const glob = rules.only === undefined ? undefined : compileGlob(isInverted ? rules.only.slice(1) : rules.only);
  yield* visit(root, await ignoreFilesAbove(root));

  async function* visit(directory: string, above: readonly IgnoreFile[]): AsyncGenerator<string> {
    signal.throwIfAborted();
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    const ignores = [
      ...above,
      ...(await ignoreFilesIn(
        directory,
        entries.map((entry) => entry.name),
      )),
    ];
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const full = path.join(directory, entry.name);
      const inside = path.relative(root, full).split(path.sep).join('/');
      if (entry.isSymbolicLink() || entry.name === '.git' || never.some((matches) => matches(inside.toLowerCase())))
        continue;
      const isMatch = glob?.(inside) ?? false;
      if (isInverted && isMatch) continue;
      const isWanted = !isInverted && isMatch;
      const isDropped =
        (rules.hidden === 'skip' && entry.name.startsWith('.')) ||
        (rules.ignored === undefined && isIgnored(full, entry.isDirectory(), ignores));
      if (isDropped && !isWanted) continue;
      if (entry.isDirectory()) yield* visit(full, ignores);
      else if (entry.isFile() && (isWanted || isInverted || glob === undefined)) yield inside;
    }
  }
}

function isIgnored(full: string, isDirectory: boolean, files: readonly IgnoreFile[]): boolean {
  // The nearest file that has an opinion decides.
  for (const { directory, rules } of files.toReversed()) {
    const inside = path.relative(directory, full).split(path.sep).join('/');
    const answer = rules.test(isDirectory ? `${inside}/` : inside);
    if (answer.ignored || answer.unignored) return answer.ignored;
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
    if (text !== undefined) found.push({ directory, rules: createIgnore().add(text) });
  }
  return found;
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
