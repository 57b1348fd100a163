import { constants } from 'node:fs';
import { appendFile, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PromptHistoryPort } from '../../contracts/frontend/conversation.ts';
import { isJsonObject, type JsonObject } from '../../contracts/json.ts';
import { redactSecrets } from '../../lib/text/redact-secrets.ts';

/** The part of the file that is read, and the size above which its older half is dropped. */
const READ_BYTES = 2_000_000;
const MAX_BYTES = 8_000_000;
/** Longer prompts are mostly pasted text and are not kept. */
const MAX_CHARS = 50_000;

/** The history file, and the session that adds to it. */
export type PromptHistoryOptions = {
  readonly path: string;
  readonly cwd: string;
  readonly sessionId: string;
  readonly now: () => number;
};

/** Creates the prompt history of all sessions: one line per prompt in one append-only file that processes share. */
export function createPromptHistory({ path, cwd, sessionId, now }: PromptHistoryOptions): PromptHistoryPort {
  /** Prompts of this run; available even if the file cannot be written. */
  let ownEntries: JsonObject[] = [];

  return {
    async listRecent(scope, limit) {
      const all = [...(await readEntries(path)), ...ownEntries];
      const seen = new Set<string>();
      for (const entry of all.toReversed()) {
        if (seen.size >= limit) break;
        const { words } = entry;
        if (typeof words === 'string' && isInScope(entry, scope)) seen.add(words);
      }
      return [...seen];
    },
    async add(text) {
      if (text.trim() === '' || text.length > MAX_CHARS) return;
      const entry = { words: redactSecrets(text), cwd, session: sessionId, at: new Date(now()).toISOString() };
      ownEntries = [...ownEntries, entry];
      await appendLine(path, `${JSON.stringify(entry)}\n`).catch(() => undefined);
    },
  };

  function isInScope(entry: JsonObject, scope: 'session' | 'folder' | 'all'): boolean {
    if (scope === 'all') return true;
    return scope === 'folder' ? entry.cwd === cwd : entry.session === sessionId;
  }
}

async function appendLine(path: string, line: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await appendFile(path, line, { mode: 0o600 });
  const file = await open(path, 'r');
  const { size } = await file.stat().finally(() => file.close());
  if (size > MAX_BYTES) await dropOlderHalf(path);
}

/** Keeps the newer half of the file. Two processes doing this at once both keep the newer half. */
async function dropOlderHalf(path: string): Promise<void> {
  const bytes = await readFile(path);
  const from = bytes.indexOf(0x0a, bytes.length - MAX_BYTES / 2) + 1;
  const temporaryPath = `${path}.${process.pid}`;
  await writeFile(temporaryPath, bytes.subarray(from), { mode: 0o600 });
  await rename(temporaryPath, path);
}

async function readEntries(path: string): Promise<readonly JsonObject[]> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return [];
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return [];
    const { size } = stats;
    const length = Math.min(size, READ_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead).split('\n').flatMap(parseEntry);
  } finally {
    await file.close();
  }
}

/** Parses one line; the first line read may be incomplete, and any line may be invalid. */
function parseEntry(line: string): readonly JsonObject[] {
  try {
    const value = JSON.parse(line);
    return isJsonObject(value) ? [value] : [];
  } catch {
    return [];
  }
}
