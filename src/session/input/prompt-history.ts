import { appendFile, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { HistoryPort } from '../../contracts/face/conversation.ts';
import { isJsonObject, type JsonObject } from '../../contracts/json.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';

/** How much of the file is looked at, and at which size its older half goes. */
const READ_BYTES = 2_000_000;
const MAX_BYTES = 8_000_000;
/** A pasted book is no prompt anybody looks for with the up key. */
const MAX_CHARS = 50_000;

export type HistoryParts = {
  readonly path: string;
  readonly cwd: string;
  readonly sessionId: string;
  readonly now: () => number;
};

/** Prompts of all sessions in one file, a line each; writers only append, so several may write at once. */
export function createPromptHistory({ path, cwd, sessionId, now }: HistoryParts): HistoryPort {
  /** What was typed here is found even when nothing can be written. */
  let own: JsonObject[] = [];

  return {
    async recent(scope, limit) {
      const all = [...(await stored(path)), ...own];
      const seen = new Set<string>();
      for (const entry of all.toReversed()) {
        if (seen.size >= limit) break;
        const { words } = entry;
        if (typeof words === 'string' && fits(entry, scope)) seen.add(words);
      }
      return [...seen];
    },
    async add(words) {
      if (words.trim() === '' || words.length > MAX_CHARS) return;
      const entry = { words: withoutSecrets(words), cwd, session: sessionId, at: new Date(now()).toISOString() };
      own = [...own, entry];
      await keep(path, `${JSON.stringify(entry)}\n`).catch(() => undefined);
    },
  };

  function fits(entry: JsonObject, scope: 'session' | 'folder' | 'all'): boolean {
    if (scope === 'all') return true;
    return scope === 'folder' ? entry.cwd === cwd : entry.session === sessionId;
  }
}

async function keep(path: string, line: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await appendFile(path, line, { mode: 0o600 });
  const file = await open(path, 'r');
  const { size } = await file.stat().finally(() => file.close());
  if (size > MAX_BYTES) await shorten(path);
}

/** Two that shorten at once both keep the newer half. */
async function shorten(path: string): Promise<void> {
  const bytes = await readFile(path);
  const from = bytes.indexOf(0x0a, bytes.length - MAX_BYTES / 2) + 1;
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, bytes.subarray(from), { mode: 0o600 });
  await rename(draft, path);
}

async function stored(path: string): Promise<readonly JsonObject[]> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return [];
  try {
    const { size } = await file.stat();
    const length = Math.min(size, READ_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead).split('\n').flatMap(parsed);
  } finally {
    await file.close();
  }
}

/** The first line may be cut, any may be foreign. */
function parsed(line: string): readonly JsonObject[] {
  try {
    const value = JSON.parse(line);
    return isJsonObject(value) ? [value] : [];
  } catch {
    return [];
  }
}
