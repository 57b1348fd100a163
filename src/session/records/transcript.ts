import type { AgentEvent } from '../../contracts/event.ts';
import type { RecordBody } from '../../contracts/session.ts';
import { type Claim, claimSession } from '../beside/claim.ts';
import { sessionFolder, subagentPath, transcriptPath } from '../paths.ts';
import { createTitleKeeper, type Title } from '../stored/title-keeper.ts';
import { type AppendFs, diskAppendFs } from './append-file.ts';
import { createTrack, type Track } from './track.ts';

/** A session's record on disk. What it was told is written when the promise resolves: before anything depends on it. */
export type Transcript = {
  readonly sessionId: string;
  readonly path: string | undefined;
  readonly folder: string;
  record(event: AgentEvent): Promise<void>;
  append(body: RecordBody): Promise<void>;
  /** On the disk itself, not only in its cache. */
  sync(): Promise<void>;
  close(): Promise<void>;
  /** Lines that could not be written yet. */
  waiting(): number;
};

export type TranscriptParts = {
  /** The real path of the directory it is worked in now. */
  readonly cwd: string;
  /** Where its file lies. */
  readonly dir: string;
  readonly sessionId: string;
  readonly gitBranch: string | undefined;
  readonly version: string;
  readonly lastUuid: string | null;
  readonly persistence: 'disk' | 'memory';
  /** What a resumed session is called, so that its name stays near the end of the file. */
  readonly title?: Title | undefined;
  /** The claim on a resumed session; a new one is claimed when its file is made. */
  readonly claim?: Claim | undefined;
  readonly newId: () => string;
  readonly now: () => number;
  /** A sentence when writing fails, and one when it works again. */
  readonly tell: (level: 'info' | 'error', text: string) => void;
  readonly fs?: AppendFs;
};

/** Nothing happens because of these alone: what comes next waits for its own line, and so for theirs before it. */
function isDependedOn(event: AgentEvent): boolean {
  if (event.type === 'message_end') return event.message.role !== 'assistant';
  return event.type !== 'permission_decision' && event.type !== 'turn_end' && event.type !== 'transition';
}

/** Nothing is created before the first user message. */
export function openTranscript(parts: TranscriptParts): Transcript {
  const { dir } = parts;
  const folder = sessionFolder(dir, parts.sessionId);
  const path = parts.persistence === 'memory' ? undefined : transcriptPath(dir, parts.sessionId);
  const subagents = new Map<string, Track>();
  const disk = parts.fs ?? diskAppendFs;
  let claim = parts.claim;
  let begun = parts.lastUuid !== null;
  let synced: 'never' | 'once' = 'never';
  let held: RecordBody[] = [];
  const main = path === undefined ? undefined : createTrack({ ...parts, fs: { open: openClaimed } }, path);
  const title = createTitleKeeper(parts.title);

  async function openClaimed(file: string) {
    const handle = await disk.open(file);
    if (claim === undefined) {
      const tried = await claimSession(file);
      if (tried.ok) claim = tried.claim;
      else
        parts.tell('error', 'Another ouro writes to the same session file. Start one of the two without --session-id.');
    }
    return handle;
  }

  async function append(body: RecordBody): Promise<void> {
    if (main === undefined) return;
    if (!begun && body.type !== 'user') {
      held.push(body);
      return;
    }
    begun = true;
    const bodies = [...held, body];
    held = [];
    await Promise.all(
      bodies.map((one) => {
        const line = main.line(one);
        title.hear(one, line.length);
        return main.file.append(line);
      }),
    );
  }

  /** The first request of a session waits for the disk itself; later turns only start it on its way. */
  async function settle(event: AgentEvent): Promise<void> {
    if (main === undefined || !begun) return;
    if (event.type === 'message_end' && event.message.role === 'user' && synced === 'never') {
      synced = 'once';
      await main.file.sync();
    }
    // While the model thinks the disk has time. Nobody waits: what fails is told by the file itself.
    if (event.type === 'request_sent') void main.file.sync();
    if (event.type !== 'agent_end') return;
    const again = title.due();
    if (again !== undefined) await append(again);
    await main.file.sync();
  }

  async function recordSubagent(agentId: string, event: AgentEvent): Promise<void> {
    const own =
      subagents.get(agentId) ?? createTrack({ ...parts, lastUuid: null, fs: disk }, subagentPath(folder, agentId));
    subagents.set(agentId, own);
    await Promise.all(own.recorder(event).map((body) => own.file.append(own.line(body))));
  }

  return {
    sessionId: parts.sessionId,
    path,
    folder,
    append,
    async record(event) {
      if (main === undefined) return;
      if (event.type === 'subagent') return recordSubagent(event.agentId, event.event);
      const written = Promise.all(main.recorder(event).map((body) => append(body)));
      if (isDependedOn(event)) await written;
      await settle(event);
    },
    sync: async () => main?.file.sync(),
    async close() {
      await Promise.all([...subagents.values()].map((one) => one.file.close()));
      await main?.file.close();
      await claim?.release();
    },
    waiting: () => main?.file.waiting() ?? 0,
  };
}
