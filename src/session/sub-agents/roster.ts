import type { AgentEvent } from '../../contracts/event.ts';
import { isJsonObject } from '../../contracts/json.ts';
import type { Usage } from '../../contracts/message.ts';
import type { Effort } from '../../contracts/model.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import type { StoredSubAgent, SubAgentEnd } from './stored-sub-agents.ts';

/** A sub-agent of the session: at work, or ended and ready to go on. */
export type SubAgent = {
  readonly id: string;
  /** The kind it is of, what it is sent for, and what it is called. */
  readonly kind: string;
  readonly title: string;
  readonly name?: string | undefined;
  /** The call that first asked for it: what it does is told under it. */
  readonly callId: string;
  /** The sub-agent that asked for it, and how deep it is itself. */
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
  /** What its present run has used, or its last one. */
  readonly usage: Usage;
  /** What it does at present, or said last. */
  readonly line: string;
  /** Its last words, whole. */
  readonly text: string;
};

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** All of them by their id, the oldest first. */
export type Roster = ReadonlyMap<string, SubAgent>;

/** The session's as its files tell of them. */
export function rosterOf(stored: readonly StoredSubAgent[]): Roster {
  return new Map(
    stored.map(({ id, facts, startedAt, end }) => {
      const { state = 'cut', calls = 0, tokens = 0, line = '' } = end ?? {};
      const ended = end === undefined ? {} : { endedAtMs: Date.parse(end.at) };
      const done = { state, calls, tokens, usage: NO_USAGE, line, text: '' };
      return [id, { ...facts, id, ...done, startedAtMs: Date.parse(startedAt), ...ended }];
    }),
  );
}

/** What happened to one of them, in the roster. */
export function withAgent(roster: Roster, agent: SubAgent): Roster {
  return new Map([...roster, [agent.id, agent]]);
}

/** The one that is meant: by its id, or the newest of that name; `of` is who asks, whose own it has to be. */
export function agentMeant(roster: Roster, wanted: string, of: string | undefined): SubAgent | undefined {
  const own = [...roster.values()].filter((agent) => of === undefined || isBelow(roster, agent, of));
  return own.find(({ id }) => id === wanted) ?? own.findLast(({ name }) => name === wanted);
}

/** Asked for by that one, or by one of those it asked for. */
function isBelow(roster: Roster, { parent }: SubAgent, of: string): boolean {
  if (parent === undefined || parent === of) return parent === of;
  const above = roster.get(parent);
  return above !== undefined && isBelow(roster, above, of);
}

/** The sub-agent after something it did. */
export function afterEvent(agent: SubAgent, event: AgentEvent): SubAgent {
  switch (event.type) {
    case 'tool_start': {
      const isShell = isJsonObject(event.input) && typeof event.input.command === 'string';
      const line = isShell ? `$ ${event.title}` : event.title;
      return { ...agent, calls: agent.calls + 1, line };
    }
    case 'turn_end': {
      const { usage: used = NO_USAGE } = event;
      const usage = {
        inputTokens: agent.usage.inputTokens + used.inputTokens,
        outputTokens: agent.usage.outputTokens + used.outputTokens,
        cacheReadTokens: agent.usage.cacheReadTokens + used.cacheReadTokens,
        cacheWriteTokens: agent.usage.cacheWriteTokens + used.cacheWriteTokens,
      };
      return { ...agent, usage, tokens: agent.tokens + used.inputTokens + used.outputTokens };
    }
    case 'message_end': {
      if (event.message.role !== 'assistant') return agent;
      const text = event.message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
      return { ...agent, text, ...(text.trim() === '' ? {} : { line: oneLine(text.trim()) }) };
    }
    default:
      return agent;
  }
}
