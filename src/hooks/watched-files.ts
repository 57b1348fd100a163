import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Feature } from '../contracts/feature.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import type { Hooks } from './create-hooks.ts';
import { parseHookMatcher } from './parse-matcher.ts';

type Snapshot = {
  /** Fingerprint of the file at each path; `undefined` where there is none. */
  readonly fingerprints: ReadonlyMap<string, string | undefined>;
  /** Paths found by the patterns. */
  readonly found: ReadonlySet<string>;
  readonly patterns: string;
};

const EMPTY: Snapshot = { fingerprints: new Map(), found: new Set(), patterns: '' };

/** Names of a folder that are matched against a pattern. */
const MAX_NAMES = 2_000;

/** Creates the feature that fires FileChanged for watched files that changed since the last prompt or turn. */
export function createFileChangedHooks(
  hooks: Pick<Hooks, 'list' | 'listWatchedPaths' | 'fireInBackground'>,
  cwd: () => string,
): Feature {
  let latest = takeSnapshot(EMPTY);

  async function takeSnapshot(before: Snapshot): Promise<Snapshot> {
    const matchers = hooks.list().flatMap(({ hook }) => (hook.event === 'FileChanged' ? [hook.matcher ?? ''] : []));
    if (matchers.length === 0) return EMPTY;
    const expanded = await Promise.all([...new Set(matchers)].map((matcher) => expandMatcher(matcher, cwd())));
    const patterns = expanded.filter(({ isPattern }) => isPattern);
    const found = new Set(patterns.flatMap(({ names }) => names.map((name) => resolve(cwd(), name))));
    const listed = [...expanded.flatMap(({ names }) => names), ...hooks.listWatchedPaths()].map((name) =>
      resolve(cwd(), name),
    );
    const paths = new Set([...listed, ...before.found]);
    const fingerprints = new Map(
      await Promise.all([...paths].map(async (path) => [path, await readFingerprint(path)] as const)),
    );
    return { fingerprints, found, patterns: patterns.map(({ matcher }) => matcher).join('\n') };
  }

  async function check(): Promise<void> {
    const before = await latest;
    latest = takeSnapshot(before);
    const { fingerprints, found, patterns } = await latest;
    for (const [path, fingerprint] of fingerprints) {
      // A path that was not watched before has no old state to compare with.
      const wasWatched = before.fingerprints.has(path) || (found.has(path) && patterns === before.patterns);
      const old = before.fingerprints.get(path);
      if (!wasWatched || old === fingerprint) continue;
      const event = fingerprint === undefined ? 'unlink' : old === undefined ? 'add' : 'change';
      hooks.fireInBackground('FileChanged', { file_path: path, event });
    }
  }

  return {
    name: 'watched files',
    async onPrompt() {
      await check();
      return { kind: 'go' };
    },
    async reminders(moment) {
      if (moment === 'turn') await check();
      return [];
    },
  };
}

type ExpandedMatcher = { readonly matcher: string; readonly isPattern: boolean; readonly names: readonly string[] };

/** Expands a matcher to file names: names separated by `|`, or a pattern matched against the names in the folder. */
async function expandMatcher(matcher: string, folder: string): Promise<ExpandedMatcher> {
  const parts = matcher.split('|');
  const isPattern = !parts.every((name) => /^[\w.-]+$/.test(name));
  if (!isPattern) return { matcher, isPattern, names: parts.filter((name) => name !== '.' && name !== '..') };
  const matches = await parseHookMatcher(matcher);
  if (matcher === '' || matcher === '*' || 'problem' in matches) return { matcher, isPattern, names: [] };
  const entries: readonly string[] = await readdir(folder).catch(() => []);
  return { matcher, isPattern, names: entries.slice(0, MAX_NAMES).filter(matches) };
}

async function readFingerprint(path: string): Promise<string | undefined> {
  const stats = await ignoreMissingFile(stat(path)).catch(() => undefined);
  return stats?.isFile() === true ? `${stats.mtimeMs} ${stats.size} ${stats.ino}` : undefined;
}
