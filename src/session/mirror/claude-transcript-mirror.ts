import { dirname, join } from 'node:path';
import type { JsonObject } from '../../contracts/json.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { diskAppendFs } from '../../lib/files/append-fs.ts';
import { writePrivateFile } from '../../lib/files/private-file.ts';
import { computeShortHash } from '../../lib/text/short-hash.ts';
import { getSessionFolder, getSubAgentPath, getTranscriptPath } from '../paths.ts';
import { type AppendFile, createAppendFile } from '../records/append-file.ts';
import { forEachSessionRecord } from '../records/read-transcript.ts';
import type { SessionRecordSink } from '../records/session-transcript.ts';
import { listSubAgentIds } from '../sub-agents.ts';
import { type ClaudeLineConverter, createClaudeTranscriptConverter } from './claude-lines.ts';

/**
 * A copy of the conversation in the transcript format of Claude Code, written while nothing else waits. Hooks and other
 * tools read it, ouro never does: a resumed session is written again.
 */
export type ClaudeTranscriptMirror = SessionRecordSink & { readonly path: string };

type MirrorOptions = {
  /** Folder that takes the place of `~/.claude`. */
  readonly root: string;
  /** Folder in which the session started. */
  readonly cwd: string;
  readonly sessionId: string;
  /** Folder of the session file itself. */
  readonly dir: string;
  /** Decides if the stored session is mirrored first; an earlier run may have mirrored it only in part. */
  readonly initialContent: 'empty' | 'with what is stored';
  readonly onProblem: (text: string) => void;
  /** Removes keys from lines before they are written. */
  readonly removeKeys: (lines: string) => string;
};

type QueuedRecord = { readonly record: SessionRecord; readonly agentId: string | undefined };
/** One mirrored file: of the conversation or of a sub-agent. */
type MirroredFile = { readonly path: string; readonly convert: ClaudeLineConverter; readonly file: AppendFile };

/** Creates the mirror of a session and its sub-agents. */
export function createClaudeTranscriptMirror(options: MirrorOptions): ClaudeTranscriptMirror {
  const { root, cwd, sessionId, initialContent, onProblem } = options;
  const dir = join(root, 'projects', getClaudeSlug(cwd));
  const path = getTranscriptPath(dir, sessionId);
  const files = new Map<string | undefined, MirroredFile>();
  let queued: readonly QueuedRecord[] = [];
  let flushing: Promise<void> | undefined;
  let isCaughtUp = initialContent === 'empty';

  function getFile(agentId: string | undefined): MirroredFile {
    const known = files.get(agentId);
    if (known !== undefined) return known;
    const filePath = agentId === undefined ? path : getSubAgentPath(getSessionFolder(dir, sessionId), agentId);
    const file = createAppendFile(filePath, diskAppendFs, (news) => {
      if (news.type === 'failed') onProblem(`The transcript could not be mirrored to ${filePath}: ${news.problem}`);
    });
    const mirrored: MirroredFile = {
      path: filePath,
      file,
      convert: createClaudeTranscriptConverter({ sessionId, ...(agentId === undefined ? {} : { agentId }) }),
    };
    files.set(agentId, mirrored);
    return mirrored;
  }

  /** Mirrors the stored records of earlier runs from the start, whatever those runs mirrored themselves. */
  async function catchUp(): Promise<void> {
    isCaughtUp = true;
    const ownPath = getTranscriptPath(options.dir, sessionId);
    const folder = getSessionFolder(options.dir, sessionId);
    for (const agentId of [undefined, ...(await listSubAgentIds(folder))]) {
      const { path: filePath, convert } = getFile(agentId);
      const lines: string[] = [];
      await forEachSessionRecord(agentId === undefined ? ownPath : getSubAgentPath(folder, agentId), (record) => {
        // Records of this run are queued before they reach the file; they must not be mirrored twice.
        if (!queued.some((entry) => entry.record.uuid === record.uuid)) lines.push(toText(convert(record)));
      });
      await writePrivateFile(filePath, lines.join(''));
    }
  }

  async function writeQueued(): Promise<void> {
    if (!isCaughtUp)
      await catchUp().catch((thrown: unknown) =>
        onProblem(`The transcript could not be mirrored: ${getErrorMessage(thrown)}`),
      );
    const batch = queued;
    queued = [];
    const written = [...new Set(batch.map(({ agentId }) => agentId))].map((agentId) => {
      const { file, convert } = getFile(agentId);
      const lines = batch.flatMap((entry) => (entry.agentId === agentId ? convert(entry.record) : []));
      return lines.length === 0 ? undefined : file.append(options.removeKeys(toText(lines)));
    });
    await Promise.all(written);
  }

  async function flush(): Promise<void> {
    while (queued.length > 0) {
      flushing ??= writeQueued().finally(() => {
        flushing = undefined;
      });
      await flushing;
    }
    await flushing;
  }

  return {
    path,
    push(record, agentId) {
      queued = [...queued, { record, agentId }];
    },
    flush,
    async close() {
      await flush();
      await Promise.all([...files.values()].map(({ file }) => file.close()));
    },
  };
}

const toText = (lines: readonly JsonObject[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

const MAX_SLUG_CHARS = 200;

/** Returns the name Claude Code gives to the folder of a project's sessions. */
function getClaudeSlug(cwd: string): string {
  const slug = cwd.replaceAll(/[^A-Za-z0-9]/g, '-');
  return slug.length <= MAX_SLUG_CHARS ? slug : `${slug.slice(0, MAX_SLUG_CHARS)}-${computeShortHash(cwd, 6)}`;
}

/** Renders a stored session and its sub-agents as one text in the transcript format of Claude Code. */
export async function renderClaudeTranscript({
  id,
  path,
}: {
  readonly id: string;
  readonly path: string;
}): Promise<string> {
  const folder = getSessionFolder(dirname(path), id);
  const main = await renderFile(path, { sessionId: id });
  const subAgents = await Promise.all(
    (await listSubAgentIds(folder)).map((agentId) =>
      renderFile(getSubAgentPath(folder, agentId), { sessionId: id, agentId }),
    ),
  );
  return [main, ...subAgents].join('');
}

/** Renders one file of records. */
async function renderFile(
  path: string,
  speaker: { readonly sessionId: string; readonly agentId?: string },
): Promise<string> {
  const convert = createClaudeTranscriptConverter(speaker);
  const lines: string[] = [];
  await forEachSessionRecord(path, (record) => {
    for (const line of convert(record)) lines.push(`${JSON.stringify(line)}\n`);
  });
  return lines.join('');
}
