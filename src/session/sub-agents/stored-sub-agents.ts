import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { QueuedMessage } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';
import { EFFORTS } from '../../contracts/model.ts';
import type { SessionRecord, SessionRecordBody } from '../../contracts/session.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { copyAsJson } from '../../lib/json.ts';
import { getSubAgentPath } from '../paths.ts';
import { parseSessionRecords } from '../records/parse-session-records.ts';
import { readRecentSessionRecords } from '../records/read-transcript.ts';
import { rebuildSession } from '../records/rebuild-session.ts';
import { createFileEndsBuffer, readFileEnds } from '../store/session-summary.ts';

const factsSchema = z.lazy(() =>
  z.object({
    kind: z.string(),
    title: z.string(),
    callId: z.string(),
    depth: z.number(),
    name: z.string().optional(),
    parent: z.string().optional(),
    model: z.string().optional(),
    effort: z.enum(EFFORTS).optional(),
    isolation: z.literal('worktree').optional(),
  }),
);

const endSchema = z.lazy(() =>
  z.object({
    state: z.enum(['completed', 'failed', 'stopped', 'cut']),
    calls: z.number(),
    tokens: z.number(),
    line: z.string(),
  }),
);

/** The start parameters of a sub-agent, from which another process can continue it. */
type SubAgentFacts = z.infer<typeof factsSchema>;

/** The end of a sub-agent run; the state is `cut` when the process ended during it. */
export type SubAgentEnd = z.infer<typeof endSchema>;

/** A sub-agent of a stored session. */
export type StoredSubAgent = {
  readonly id: string;
  readonly facts: SubAgentFacts;
  readonly startedAt: string;
  /** Absent when it was still working when the process ended. */
  readonly end: (SubAgentEnd & { readonly at: string }) | undefined;
};

const START_SUBTYPE = 'sub_agent';
const END_SUBTYPE = 'sub_agent_end';

export function createSubAgentStartRecord(facts: SubAgentFacts): SessionRecordBody {
  return { type: 'system', subtype: START_SUBTYPE, data: copyAsJson(factsSchema.parse(facts)) };
}

export function createSubAgentEndRecord(end: SubAgentEnd): SessionRecordBody {
  return { type: 'system', subtype: END_SUBTYPE, data: copyAsJson(end) };
}

/** Lists the sub-agents of a session, read from both ends of their files; unreadable ones are omitted. */
export function listStoredSubAgents(folder: string): readonly StoredSubAgent[] {
  const scratch = createFileEndsBuffer();
  return listTranscriptNames(join(folder, 'subagents'))
    .flatMap((name) => readStoredAt(join(folder, 'subagents', name), scratch) ?? [])
    .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
}

function readStoredAt(path: string, scratch: Buffer): StoredSubAgent | undefined {
  const ends = readFileEnds(path, scratch);
  if (ends === undefined) return undefined;
  const [head = ''] = ends.head.toString('utf8').split('\n', 1);
  const first = parseSessionRecords(head).records.find(isSystemRecord);
  const facts = factsSchema.safeParse(first?.data);
  if (first?.subtype !== START_SUBTYPE || !facts.success) return undefined;
  const tail = ends.tail.toString('utf8');
  // The tail of a large file starts in the middle of a line.
  const wholeLines = ends.tail === ends.head ? tail : tail.slice(tail.indexOf('\n') + 1);
  const last = parseSessionRecords(wholeLines)
    .records.filter(isSystemRecord)
    .findLast(({ subtype }) => subtype === START_SUBTYPE || subtype === END_SUBTYPE);
  const end = endSchema.safeParse(last?.data);
  return {
    id: basename(path, '.jsonl').replace(/^agent-/, ''),
    facts: facts.data,
    startedAt: first.timestamp,
    end: last?.subtype === END_SUBTYPE && end.success ? { ...end.data, at: last.timestamp } : undefined,
  };
}

type SystemRecord = Extract<SessionRecord, { type: 'system' }>;

function isSystemRecord(record: SessionRecord): record is SystemRecord {
  return record.type === 'system';
}

/** Reads the messages of a sub-agent, and those queued for it and not yet delivered. */
export async function readSubAgent(
  folder: string,
  id: string,
): Promise<{ readonly messages: readonly Message[]; readonly queued: readonly QueuedMessage[] }> {
  const { records } = await readRecentSessionRecords(getSubAgentPath(folder, id), 'from-boundary');
  const { messages, queued } = rebuildSession(records);
  return { messages, queued };
}

function listTranscriptNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  } catch {
    return [];
  }
}

/** Lists the ids of the sub-agents of a session. */
export async function listSubAgentIds(folder: string): Promise<readonly string[]> {
  const names = (await ignoreMissingFile(readdir(dirname(getSubAgentPath(folder, ''))))) ?? [];
  return names.flatMap((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1] ?? []).toSorted();
}
