import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../lib/files/errno.ts';
import type { Hooks } from './create-hooks.ts';

/** What stood at each path when it was looked at last; nothing where there was no file. */
type Seen = ReadonlyMap<string, string | undefined>;

/** Looks, when it is called, for files that hooks of FileChanged name and that are not what they were, and fires them. */
export function createWatchedFiles(
  hooks: Pick<Hooks, 'list' | 'fireInBackground'>,
  cwd: () => string,
): () => Promise<void> {
  let seen = look();

  async function look(): Promise<Seen> {
    const wanted = hooks.list().flatMap(({ hook }) => (hook.event === 'FileChanged' ? namesIn(hook.matcher) : []));
    const paths = [...new Set(wanted)].map((name) => join(cwd(), name));
    return new Map(await Promise.all(paths.map(async (path) => [path, await markOf(path)] as const)));
  }

  return async () => {
    const before = await seen;
    seen = look();
    for (const [path, mark] of await seen) {
      // What nobody watched until now has not changed.
      if (!before.has(path) || before.get(path) === mark) continue;
      const event = mark === undefined ? 'unlink' : before.get(path) === undefined ? 'add' : 'change';
      hooks.fireInBackground('FileChanged', { file_path: path, event });
    }
  };
}

/** A matcher is names of files here, with bars between them. */
function namesIn(matcher = ''): readonly string[] {
  return matcher.split('|').filter((name) => /^[\w.-]+$/.test(name) && name !== '.' && name !== '..');
}

async function markOf(path: string): Promise<string | undefined> {
  const facts = await ifThere(stat(path)).catch(() => undefined);
  return facts?.isFile() === true ? `${facts.mtimeMs} ${facts.size} ${facts.ino}` : undefined;
}
