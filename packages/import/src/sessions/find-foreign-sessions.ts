import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import {
  createTranscriptLineUuid,
  getErrorMessage,
  ignoreMissingFile,
  narrowToObject,
  narrowToString,
  parseNetworkJson,
} from '@ouro-cli/ouro/commands';
import { isPathInside } from '@ouro-cli/ouro/sandbox';
import type { ForeignImportFolders, ForeignImportItem } from '../files/foreign-import-item.ts';
import { convertClaudeSession } from './claude-session.ts';
import { convertCodexSession } from './codex-session.ts';
import type { ForeignSession } from './foreign-session.ts';
import { convertGeminiSession } from './gemini-session.ts';
import { hasSession } from './import-session.ts';
import { convertOpencodeSession } from './opencode-session.ts';
import { listOpencodeSessions } from './opencode-storage.ts';
import { convertPiSession } from './pi-session.ts';

/** The sessions that are looked for: those of the project, or of all folders. */
export type ForeignSessionScope = 'project' | 'all';

type Found = { readonly items: readonly ForeignImportItem[]; readonly skipped: readonly string[] };

/** A stored conversation that has not been converted yet. */
type Candidate = {
  readonly assistant: string;
  /** Path of the file, for messages. */
  readonly path: string;
  readonly updatedMs: number;
  /** The folder, if it is known before the file is read as a whole. */
  readonly cwd: string | undefined;
  readonly convert: () => Promise<ForeignSession | undefined>;
};

const MAX_BYTES = 200_000_000;
const HEAD_BYTES = 64_000;

/** Lists the sessions of other assistants, converted, the newest first. Changes nothing. */
export async function findForeignSessions(places: ForeignImportFolders, range: ForeignSessionScope): Promise<Found> {
  const found = (
    await Promise.all([...FILE_LOCATIONS.map((one) => listFiles(one, places)), listOpencode(places)])
  ).flat();
  const items: ForeignImportItem[] = [];
  const skipped: string[] = [];
  let known = 0;
  for (const { assistant, path, updatedMs, cwd, convert } of found.toSorted((a, b) => b.updatedMs - a.updatedMs)) {
    if (range === 'project' && cwd !== undefined && !isOfProject(cwd, places)) continue;
    try {
      const session = await convert();
      if (session === undefined || session.messages.length === 0) continue;
      if (range === 'project' && !isOfProject(session.cwd, places)) continue;
      const folder = resolveFolder(session.cwd === '' ? places.cwd : session.cwd);
      const id = createTranscriptLineUuid(`${assistant}/${session.id}`, 0);
      // Sessions of ouro are found as well, if it mirrors them for other programs.
      if (hasSession(places.ouroHome, folder, session.id)) continue;
      if (hasSession(places.ouroHome, folder, id)) known += 1;
      else
        items.push({
          kind: 'sessions',
          assistant,
          scope: 'user',
          path: `~/${relative(places.home, path)}`,
          id,
          cwd: folder,
          title: session.title,
          messages: session.messages,
          updatedMs: getLastTime(session) ?? updatedMs,
          lost: session.lost,
        });
    } catch (thrown) {
      skipped.push(`~/${relative(places.home, path)} could not be read: ${getErrorMessage(thrown).split('\n', 1)[0]}`);
    }
  }
  if (known > 0) skipped.push(`sessions that were imported before: ${known}`);
  return { items, skipped };
}

/** Returns the time of the last message; a copied file has another time. */
function getLastTime({ messages }: ForeignSession): number | undefined {
  const last = messages.at(-1);
  const at = last === undefined || last.role === 'boundary' ? Number.NaN : Date.parse(last.at ?? '');
  return Number.isNaN(at) ? undefined : at;
}

const isOfProject = (cwd: string, places: ForeignImportFolders) =>
  cwd !== '' && isPathInside(resolveFolder(cwd), places.cwd);

/** Returns the real path of a folder, or the path as it is if the folder is gone. */
function resolveFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

type FileLocation = {
  readonly assistant: string;
  readonly pattern: string;
  /** Finds the folder without reading the whole file. */
  readonly findCwd: (path: string, places: ForeignImportFolders) => Promise<string | undefined>;
  readonly convert: (text: string, cwd: string) => ForeignSession | undefined;
};

const FILE_LOCATIONS: readonly FileLocation[] = [
  {
    assistant: 'Claude Code',
    pattern: '.claude/projects/*/*.jsonl',
    findCwd: findCwdInHead,
    convert: convertClaudeSession,
  },
  {
    assistant: 'Codex',
    pattern: '.codex/{sessions,archived_sessions}/**/rollout-*.jsonl',
    findCwd: findCwdInHead,
    convert: convertCodexSession,
  },
  { assistant: 'pi', pattern: '.pi/agent/sessions/*/*.jsonl', findCwd: findCwdInHead, convert: convertPiSession },
  {
    assistant: 'Gemini CLI',
    pattern: '.gemini/tmp/*/chats/session-*.{json,jsonl}',
    findCwd: findGeminiFolder,
    convert: convertGeminiSession,
  },
];

async function listFiles(
  { assistant, pattern, findCwd, convert }: FileLocation,
  places: ForeignImportFolders,
): Promise<readonly Candidate[]> {
  const { glob } = await import('fast-glob');
  const paths = await glob(pattern, { cwd: places.home, absolute: true, dot: true, followSymbolicLinks: false });
  return Promise.all(
    paths.map(async (path) => {
      const { mtimeMs, size } = await stat(path);
      const cwd = await findCwd(path, places);
      return {
        assistant,
        path,
        updatedMs: mtimeMs,
        cwd,
        async convert() {
          if (size > MAX_BYTES) throw new Error('the file is too large');
          return convert(await readFile(path, 'utf8'), cwd ?? '');
        },
      };
    }),
  );
}

/** Finds the folder in the first lines of a JSONL file. */
async function findCwdInHead(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const [, quoted] = /"cwd":("(?:[^"\\]|\\.)*")/.exec(buffer.toString('utf8', 0, bytesRead)) ?? [];
    return quoted === undefined ? undefined : narrowToString(parseNetworkJson(quoted));
  } finally {
    await file.close();
  }
}

/** Gemini CLI names the folder in a file beside the chats, or only by a hash. */
async function findGeminiFolder(path: string, { cwd }: ForeignImportFolders): Promise<string | undefined> {
  const folder = dirname(dirname(path));
  const named = await ignoreMissingFile(readFile(join(folder, '.project_root'), 'utf8'));
  if (named !== undefined) return named.trim();
  return createHash('sha256').update(cwd).digest('hex') === basename(folder) ? cwd : '';
}

async function listOpencode({ home }: ForeignImportFolders): Promise<readonly Candidate[]> {
  const stored = await listOpencodeSessions(home);
  return stored.map(({ path, session, messages }) => ({
    assistant: 'opencode',
    path,
    updatedMs: Number(narrowToObject(session.time)?.updated) || 0,
    cwd: narrowToString(session.directory),
    convert: async () => convertOpencodeSession({ session, messages: await messages() }),
  }));
}
