import type { AgentEvent } from '../../contracts/event.ts';
import { isJsonObject } from '../../contracts/json.ts';
import type { Usage } from '../../contracts/message.ts';
import type { Effort } from '../../contracts/model.ts';
import { formatOneLine } from '../../lib/text/format.ts';
import type { StoredSubAgent, SubAgentEnd } from './stored-sub-agents.ts';

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

/** Finds a sub-agent by id, or the newest with that name; with `of`, only among the descendants of that sub-agent. */
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
      const text = event.message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
      return { ...agent, text, ...(text.trim() === '' ? {} : { line: formatOneLine(text.trim()) }) };
    }
    default:
      return agent;
  }
}
