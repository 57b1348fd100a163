import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { getErrorMessage, ignoreMissingFile } from '../lib/errors.ts';
import { getProcessState } from '../lib/processes/process-info.ts';
import { sanitizeUntrustedLine } from '../lib/text/sanitize.ts';
import { isPathInside } from '../permissions/resolve-path.ts';

/** An editor that offers a link, as its lock file describes it. */
export type EditorInfo = {
  readonly port: number;
  /** Sanitized name, such as `Neovim`. */
  readonly name: string;
  readonly folders: readonly string[];
  /** Absent for claude-code-ide.el, whose server wants none. */
  readonly authToken?: string;
  /** Reason why it is not connected to automatically; absent for an editor of this folder. */
  readonly mismatch?: string;
};

/** A lock file that is not used, with the reason. */
export type RejectedLockFile = { readonly file: string; readonly reason: string };

/** The editors found, best match first, and the lock files that are not used. */
export type FoundEditors = { readonly editors: readonly EditorInfo[]; readonly rejected: readonly RejectedLockFile[] };

/** The folder of lock files, the folder of the session, and the port that the editor's terminal names. */
export type FindEditorsOptions = {
  readonly lockFolder: string;
  readonly cwd: string;
  readonly port: number | undefined;
};

const NAME_CHARS = 40;
const MAX_LOCK_FILES = 100;
const MAX_LOCK_BYTES = 64 * 1024;
const MAX_PORT = 65_535;

const lockSchema = z.lazy(() =>
  z.object({
    pid: z.int().positive(),
    workspaceFolders: z.array(z.string()).default([]),
    ideName: z.string().default('editor'),
    transport: z.literal('ws').default('ws'),
    // A token becomes a header, which must not contain a line break.
    authToken: z
      .string()
      .regex(/^[\x21-\x7e]+$/)
      .optional(),
  }),
);

/** Creates the search for editors from the variables of the environment. */
export function createFindEditorsOptions(
  variables: Readonly<Record<string, string>>,
  { home, cwd }: { readonly home: string; readonly cwd: string },
): FindEditorsOptions {
  const configFolder = variables.CLAUDE_CONFIG_DIR || join(home, '.claude');
  const port = Number(variables.CLAUDE_CODE_SSE_PORT ?? '');
  return { lockFolder: join(configFolder, 'ide'), cwd, port: isPort(port) ? port : undefined };
}

/** Reads the lock files of running editors. An editor whose folder does not hold the session's is listed last. */
export async function findEditors(search: FindEditorsOptions): Promise<FoundEditors> {
  const names = (await readdir(search.lockFolder).catch(() => [])).filter((name) => name.endsWith('.lock'));
  const read = await Promise.all(
    names.slice(0, MAX_LOCK_FILES).map(async (name) => readLockFile(join(search.lockFolder, name), search)),
  );
  const found = read.flatMap((lock) => ('editor' in lock ? [lock] : []));
  const sorted = found.toSorted((a, b) => b.rank - a.rank || b.modifiedMs - a.modifiedMs);
  return {
    editors: sorted.map(({ editor }) => editor),
    rejected: read.flatMap((lock) => ('reason' in lock ? [lock] : [])),
  };
}

/** `rank`: the length of the matching folder, or infinite for the editor that started this terminal. */
type LockFile = RejectedLockFile | { readonly editor: EditorInfo; readonly rank: number; readonly modifiedMs: number };

async function readLockFile(file: string, search: FindEditorsOptions): Promise<LockFile> {
  const reject = (reason: string) => ({ file, reason });
  const port = Number(basename(file, '.lock'));
  if (!isPort(port)) return reject('its name is not a port');
  try {
    const { text, mtimeMs } = await readOwnFile(file);
    const lock = lockSchema.safeParse(JSON.parse(text));
    if (!lock.success) return reject(`it is not a lock file of an editor (${lock.error.issues[0]?.path.join('.')})`);
    const { pid, ideName, workspaceFolders, authToken } = lock.data;
    if (getProcessState({ pid, startTime: '' }) === 'dead') return reject(`its editor (process ${pid}) has ended`);
    const rank = search.port === port ? Number.POSITIVE_INFINITY : await matchFolder(workspaceFolders, search.cwd);
    const name = sanitizeUntrustedLine(ideName, NAME_CHARS) || 'editor';
    const editor = { port, name, folders: workspaceFolders, ...(authToken === undefined ? {} : { authToken }) };
    return {
      editor: rank > 0 ? editor : { ...editor, mismatch: 'it has another folder open' },
      rank,
      modifiedMs: mtimeMs,
    };
  } catch (thrown) {
    return reject(getErrorMessage(thrown));
  }
}

/** Reads a file that only the user can have written. Throws for any other one. */
async function readOwnFile(file: string): Promise<{ readonly text: string; readonly mtimeMs: number }> {
  // Non-blocking: opening a pipe without a writer would wait forever.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > MAX_LOCK_BYTES) throw new Error('it is not a small regular file');
    if (process.getuid !== undefined && stats.uid !== process.getuid()) throw new Error('it belongs to another user');
    if (process.platform !== 'win32' && (stats.mode & 0o022) !== 0) throw new Error('other users can change it');
    return { text: await handle.readFile('utf8'), mtimeMs: stats.mtimeMs };
  } finally {
    await handle.close();
  }
}

/** Returns the length of the longest folder that holds the session's folder; 0 for none. */
async function matchFolder(folders: readonly string[], cwd: string): Promise<number> {
  const real = await Promise.all(
    folders.map(
      async (folder) => (await ignoreMissingFile(realpath(folder)).catch(() => undefined)) ?? resolve(folder),
    ),
  );
  return Math.max(0, ...real.filter((folder) => isPathInside(cwd, folder)).map((folder) => folder.length));
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port <= MAX_PORT;
}
