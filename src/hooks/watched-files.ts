import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ifThere } from '../lib/files/errno.ts';
import type { Hooks } from './create-hooks.ts';
import { readMatcher } from './read-matcher.ts';

/** How it was when it was looked at last. */
type Seen = {
  /** What stood at each path; nothing where there was no file. */
  readonly marks: ReadonlyMap<string, string | undefined>;
  /** The paths that patterns have found, and those patterns. */
  readonly found: ReadonlySet<string>;
  readonly looksFor: string;
};

const NOTHING: Seen = { marks: new Map(), found: new Set(), looksFor: '' };

/** A folder with more names is not gone through for a pattern. */
const MOST_NAMES = 2_000;

/** Looks, when it is called, for files that hooks of FileChanged name and that are not what they were, and fires them. */
export function createWatchedFiles(
  hooks: Pick<Hooks, 'list' | 'watched' | 'fireInBackground'>,
  cwd: () => string,
): () => Promise<void> {
  let seen = look(NOTHING);

  async function look(before: Seen): Promise<Seen> {
    const matchers = hooks.list().flatMap(({ hook }) => (hook.event === 'FileChanged' ? [hook.matcher ?? ''] : []));
    if (matchers.length === 0) return NOTHING;
    const named = await Promise.all([...new Set(matchers)].map((matcher) => namesIn(matcher, cwd())));
    const patterns = named.filter(({ isPattern }) => isPattern);
    const found = new Set(patterns.flatMap(({ names }) => names.map((name) => resolve(cwd(), name))));
    const listed = [...named.flatMap(({ names }) => names), ...hooks.watched()].map((name) => resolve(cwd(), name));
    const paths = new Set([...listed, ...before.found]);
    const marks = new Map(await Promise.all([...paths].map(async (path) => [path, await markOf(path)] as const)));
    return { marks, found, looksFor: patterns.map(({ matcher }) => matcher).join('\n') };
  }

  return async () => {
    const before = await seen;
    seen = look(before);
    const { marks, found, looksFor } = await seen;
    for (const [path, mark] of marks) {
      // What nobody watched until now has not changed.
      const wasWatched = before.marks.has(path) || (found.has(path) && looksFor === before.looksFor);
      const old = before.marks.get(path);
      if (!wasWatched || old === mark) continue;
      const event = mark === undefined ? 'unlink' : old === undefined ? 'add' : 'change';
      hooks.fireInBackground('FileChanged', { file_path: path, event });
    }
  };
}

type Names = { readonly matcher: string; readonly isPattern: boolean; readonly names: readonly string[] };

/** A matcher is names of files, with bars between them; anything else is a pattern for the names in the folder. */
async function namesIn(matcher: string, folder: string): Promise<Names> {
  const parts = matcher.split('|');
  const isPattern = !parts.every((name) => /^[\w.-]+$/.test(name));
  if (!isPattern) return { matcher, isPattern, names: parts.filter((name) => name !== '.' && name !== '..') };
  const matches = await readMatcher(matcher);
  if (matcher === '' || matcher === '*' || 'problem' in matches) return { matcher, isPattern, names: [] };
  const all: readonly string[] = await readdir(folder).catch(() => []);
  return { matcher, isPattern, names: all.slice(0, MOST_NAMES).filter(matches) };
}

async function markOf(path: string): Promise<string | undefined> {
  const facts = await ifThere(stat(path)).catch(() => undefined);
  return facts?.isFile() === true ? `${facts.mtimeMs} ${facts.size} ${facts.ino}` : undefined;
}
