import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { AgentEvent, QueuedMessage } from '../contracts/event.ts';
import { isJsonObject } from '../contracts/json.ts';
import { joinTextBlocks, type Message, type Usage } from '../contracts/message.ts';
import { EFFORTS, type Effort } from '../contracts/model.ts';
import type { SessionRecord, SessionRecordBody } from '../contracts/session.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { copyAsJson } from '../lib/json.ts';
import { formatOneLine } from '../lib/text/format.ts';
import { getSubAgentPath } from './paths.ts';
import { parseSessionRecords } from './records/parse-session-records.ts';
import { readRecentSessionRecords } from './records/read-transcript.ts';
import { rebuildSession } from './records/rebuild-session.ts';
import { createFileEndsBuffer, readFileEnds } from './store/file-ends.ts';

/** A sub-agent of the session: working, or ended and ready to continue. */
export type SubAgent = {
  readonly id: string;
  /** Agent type, task title and optional name. */
  readonly kind: string;
  readonly title: string;
  readonly name?: string | undefined;
  /** Tool call that started it; its activity is shown below that call. */
  readonly callId: string;
  /** Id of the sub-agent that started it, and its own nesting depth. */
  readonly parent?: string | undefined;
  readonly depth: number;
  readonly model?: string | undefined;
  readonly effort?: Effort | undefined;
  readonly isolation?: 'worktree' | undefined;
  readonly state: 'working' | SubAgentEnd['state'];
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly calls: number;
  readonly tokens: number;
  /** Tokens used by its current or last run. */
  readonly usage: Usage;
  /** One line about its current call, or the last line it wrote. */
  readonly line: string;
  /** Full text of its last reply. */
  readonly text: string;
};

/** The usage of a run without any request. */
export const NO_TOKEN_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The sub-agents of a session by id, oldest first. */
export type SubAgentRegistry = ReadonlyMap<string, SubAgent>;

/** Builds the registry from the stored sub-agents of a session. */
export function buildSubAgentRegistry(stored: readonly StoredSubAgent[]): SubAgentRegistry {
  return new Map(
    stored.map(({ id, facts, startedAt, end }) => {
      const { state = 'cut', calls = 0, tokens = 0, line = '' } = end ?? {};
      const ended = end === undefined ? {} : { endedAtMs: Date.parse(end.at) };
      const done = { state, calls, tokens, usage: NO_TOKEN_USAGE, line, text: '' };
      return [id, { ...facts, id, ...done, startedAtMs: Date.parse(startedAt), ...ended }];
    }),
  );
}

/** Adds or replaces a sub-agent in the registry. */
export function updateSubAgent(roster: SubAgentRegistry, agent: SubAgent): SubAgentRegistry {
  return new Map([...roster, [agent.id, agent]]);
}

/**
 * Finds a sub-agent by id, or the newest with that name; with `ancestor`, only among its descendants, so that no two can
 * keep each other busy.
 */
export function findSubAgent(
  roster: SubAgentRegistry,
  idOrName: string,
  ancestor: string | undefined,
): SubAgent | undefined {
  const candidates = [...roster.values()].filter(
    (agent) => ancestor === undefined || isDescendant(roster, agent, ancestor),
  );
  return candidates.find(({ id }) => id === idOrName) ?? candidates.findLast(({ name }) => name === idOrName);
}

/** Returns whether a sub-agent was started by another one, directly or through its sub-agents. */
function isDescendant(roster: SubAgentRegistry, { parent }: SubAgent, ancestor: string): boolean {
  if (parent === undefined || parent === ancestor) return parent === ancestor;
  const parentAgent = roster.get(parent);
  return parentAgent !== undefined && isDescendant(roster, parentAgent, ancestor);
}

/** Returns the sub-agent after one of its events. */
export function reduceSubAgent(agent: SubAgent, event: AgentEvent): SubAgent {
  switch (event.type) {
    case 'tool_start': {
      const isShell = isJsonObject(event.input) && typeof event.input.command === 'string';
      const line = isShell ? `$ ${event.title}` : event.title;
      return { ...agent, calls: agent.calls + 1, line };
    }
    case 'turn_end': {
      const { usage: turnUsage = NO_TOKEN_USAGE } = event;
      const usage = {
        inputTokens: agent.usage.inputTokens + turnUsage.inputTokens,
        outputTokens: agent.usage.outputTokens + turnUsage.outputTokens,
        cacheReadTokens: agent.usage.cacheReadTokens + turnUsage.cacheReadTokens,
        cacheWriteTokens: agent.usage.cacheWriteTokens + turnUsage.cacheWriteTokens,
      };
      return { ...agent, usage, tokens: agent.tokens + turnUsage.inputTokens + turnUsage.outputTokens };
    }
    case 'message_end': {
      if (event.message.role !== 'assistant') return agent;
      const text = joinTextBlocks(event.message.blocks, '\n');
      return { ...agent, text, ...(text.trim() === '' ? {} : { line: formatOneLine(text.trim()) }) };
    }
    default:
      return agent;
  }
}

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
type SubAgentEnd = z.infer<typeof endSchema>;

/** A sub-agent of a stored session. */
type StoredSubAgent = {
  readonly id: string;
  readonly facts: SubAgentFacts;
  readonly startedAt: string;
  /** Absent when it was still working when the process ended. */
  readonly end: (SubAgentEnd & { readonly at: string }) | undefined;
};

const START_SUBTYPE = 'sub_agent';
const END_SUBTYPE = 'sub_agent_end';

/** Creates the record of the start of a sub-agent. */
export function createSubAgentStartRecord(facts: SubAgentFacts): SessionRecordBody {
  return { type: 'system', subtype: START_SUBTYPE, data: copyAsJson(factsSchema.parse(facts)) };
}

/** Creates the record of the end of a sub-agent. */
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
export async function readSubAgentMessages(
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
