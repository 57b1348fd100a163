import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { QueuedMessage } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';
import { EFFORTS } from '../../contracts/model.ts';
import type { RecordBody, SessionRecord } from '../../contracts/session.ts';
import { asJson } from '../../lib/as-json.ts';
import { subagentPath } from '../paths.ts';
import { readRecords } from '../records/read-records.ts';
import { readRecent } from '../records/read-transcript.ts';
import { rebuild } from '../records/rebuild.ts';
import { peek, summaryScratch } from '../stored/summary.ts';

const facts = z.object({
  kind: z.string(),
  title: z.string(),
  callId: z.string(),
  depth: z.number(),
  name: z.string().optional(),
  parent: z.string().optional(),
  model: z.string().optional(),
  effort: z.enum(EFFORTS).optional(),
  isolation: z.literal('worktree').optional(),
});

const ending = z.object({
  state: z.enum(['completed', 'failed', 'stopped', 'cut']),
  calls: z.number(),
  tokens: z.number(),
  line: z.string(),
});

/** What a sub-agent was started as: with it, it can be gone on with by another process. */
export type SubAgentFacts = z.infer<typeof facts>;

/** How a run of it ended; `cut`: the process did, in the midst. */
export type SubAgentEnd = z.infer<typeof ending>;

/** A sub-agent of a stored session. */
export type StoredSubAgent = {
  readonly id: string;
  readonly facts: SubAgentFacts;
  readonly startedAt: string;
  /** Nothing when it was at work to the last. */
  readonly end: (SubAgentEnd & { readonly at: string }) | undefined;
};

const BEGINS = 'sub_agent';
const ENDS = 'sub_agent_end';

/** Stands at the beginning of each run. */
export function beginRecord(subject: SubAgentFacts): RecordBody {
  return { type: 'system', subtype: BEGINS, data: asJson(facts.parse(subject)) };
}

/** Stands behind each run. */
export function endRecord(end: SubAgentEnd): RecordBody {
  return { type: 'system', subtype: ENDS, data: asJson(end) };
}

/** The sub-agents of a session, by the ends of their files; those that cannot be told are left out. */
export function storedSubAgents(folder: string): readonly StoredSubAgent[] {
  const scratch = summaryScratch();
  return namesIn(join(folder, 'subagents'))
    .flatMap((name) => storedAt(join(folder, 'subagents', name), scratch) ?? [])
    .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
}

function storedAt(path: string, scratch: Buffer): StoredSubAgent | undefined {
  const ends = peek(path, scratch);
  if (ends === undefined) return undefined;
  const [head = ''] = ends.head.toString('utf8').split('\n', 1);
  const first = readRecords(head).records.find(isSystem);
  const told = facts.safeParse(first?.data);
  if (first?.subtype !== BEGINS || !told.success) return undefined;
  const tail = ends.tail.toString('utf8');
  // Of a big file the tail begins in the middle of a line.
  const whole = ends.tail === ends.head ? tail : tail.slice(tail.indexOf('\n') + 1);
  const last = readRecords(whole)
    .records.filter(isSystem)
    .findLast(({ subtype }) => subtype === BEGINS || subtype === ENDS);
  const end = ending.safeParse(last?.data);
  return {
    id: basename(path, '.jsonl').replace(/^agent-/, ''),
    facts: told.data,
    startedAt: first.timestamp,
    end: last?.subtype === ENDS && end.success ? { ...end.data, at: last.timestamp } : undefined,
  };
}

type SystemRecord = Extract<SessionRecord, { type: 'system' }>;

function isSystem(record: SessionRecord): record is SystemRecord {
  return record.type === 'system';
}

/** What a sub-agent has heard and said, and what it was told and has not heard. */
export async function readSubAgent(
  folder: string,
  id: string,
): Promise<{ readonly messages: readonly Message[]; readonly queued: readonly QueuedMessage[] }> {
  const { records } = await readRecent(subagentPath(folder, id), 'from-boundary');
  const { messages, queued } = rebuild(records);
  return { messages, queued };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  } catch {
    return [];
  }
}
