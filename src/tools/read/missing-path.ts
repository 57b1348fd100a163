import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';
import type { SearchDeps } from '../search/search-backend.ts';

/** The kind of entry at a path; everything that is neither missing nor a directory is left to reading. */
export async function findPathEntryKind(file: string): Promise<'directory' | 'missing' | 'other'> {
  return stat(file).then(
    (stats) => (stats.isDirectory() ? 'directory' : 'other'),
    (problem: NodeJS.ErrnoException) => (problem.code === 'ENOENT' || problem.code === 'ENOTDIR' ? 'missing' : 'other'),
  );
}

type SuggestionDeps = { readonly cwd: string; readonly search?: SearchDeps };

const MAX_SUGGESTIONS = 5;

/** Creates the failure for a path that does not exist, with the existing paths that may be meant. */
export async function createMissingFailure(
  file: string,
  deps: SuggestionDeps,
  signal: AbortSignal,
): Promise<ToolFailure> {
  const suggestions = [
    ...(await findBelow(file, deps.cwd)),
    ...(await findInFolder(file)),
    ...(await findByName(file, deps, signal)),
  ];
  const distinct = [...new Set(suggestions)].slice(0, MAX_SUGGESTIONS);
  const hint =
    distinct.length === 0 ? 'Check the path, or look for it with Glob.' : `Did you mean ${distinct.join(' or ')}?`;
  return new ToolFailure(`${file} does not exist. ${hint}`);
}

/** Finds the end of the path below the working directory: models know projects under other folders. */
async function findBelow(file: string, cwd: string): Promise<readonly string[]> {
  const segments = file.split(path.sep).filter(Boolean);
  for (let from = 1; from < segments.length; from += 1) {
    const candidate = path.join(cwd, ...segments.slice(from));
    if (candidate !== file && (await findPathEntryKind(candidate)) !== 'missing') return [candidate];
  }
  return [];
}

/** Finds a similar name in the folder; of a missing folder, a similar one. */
async function findInFolder(file: string): Promise<readonly string[]> {
  const folder = path.dirname(file);
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) {
    if (folder === path.dirname(folder)) return [];
    const [similar] = await findInFolder(folder);
    const candidate = similar === undefined ? undefined : path.join(similar, path.basename(file));
    return candidate !== undefined && (await findPathEntryKind(candidate)) !== 'missing' ? [candidate] : [];
  }
  const name = path.basename(file);
  const stem = (text: string) => text.replace(/\.[^.]*$/, '').toLowerCase();
  const sameStem = names.filter((other) => stem(other) === stem(name));
  const closest = findClosestWord(name, names);
  return [...sameStem, ...(closest === undefined ? [] : [closest])].map((other) => path.join(folder, other));
}

/** Finds files of the same name elsewhere in the project. */
async function findByName(
  file: string,
  { cwd, search }: SuggestionDeps,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (search === undefined) return [];
  const name = path.basename(file).toLowerCase();
  const found: string[] = [];
  let rest = '';
  const take = (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (path.basename(line).toLowerCase() === name) found.push(path.join(cwd, line));
    return found.length < MAX_SUGGESTIONS ? 'more' : 'enough';
  };
  await search.locator.listFiles({ root: cwd, excluded: search.excluded() }, take, signal).catch(() => undefined);
  return found;
}
