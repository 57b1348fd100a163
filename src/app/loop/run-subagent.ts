import type { AgentEvent } from '../../contracts/event.ts';
import type { AgentKind } from '../../contracts/extension.ts';
import type { Message } from '../../contracts/message.ts';
import type { SystemPart } from '../../contracts/model.ts';
import type { ContextPort, QueryDeps } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import { query } from '../../engine/query.ts';
import { toolsOfAgent } from '../../extensions/tools-of-agent.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { messageOf } from '../../lib/errors.ts';
import { createReadState, type ReadState } from '../../tools/read-state.ts';
import type { AgentOrder, AgentReport, TaskParts } from '../../tools/task/task.ts';
import { createOwners, type Owners } from './call-owners.ts';

export type SubagentParts = {
  readonly kinds: () => readonly AgentKind[];
  /** The parent's dependencies as they are now; a sub-agent never has more. */
  readonly deps: (kind: AgentKind) => QueryDeps;
  /** The parent's tools, but what they know of files is the sub-agent's own. */
  readonly tools: (reads: ReadState) => readonly Tool[];
  readonly environmentPart: () => readonly SystemPart[];
  /** Room is made in its own conversation, not in the parent's. */
  readonly contextFor: (agent: {
    readonly model: string;
    readonly system: readonly SystemPart[];
    readonly tools: readonly Tool[];
    readonly reads: ReadState;
  }) => ContextPort;
  readonly resolveModel: (name: string) => string;
  readonly cwd: () => string;
  readonly hooks: Hooks;
  readonly tell: (event: AgentEvent) => Promise<void>;
  readonly notice: (words: string) => void;
  readonly newId: () => string;
  /** Pulled when the session ends: nothing in the background outlives it. */
  readonly signal: () => AbortSignal;
};

export type Subagents = TaskParts &
  Pick<Owners, 'moved'> & {
    /** Those nobody waits for. */
    readonly running: () => readonly { readonly id: string; readonly title: string; readonly startedAtMs: number }[];
    /** Ends one of them; false when there is none of that id. */
    readonly stop: (id: string) => boolean;
  };

/** Runs sub-agents: each its own loop and messages, with at most the parent's permissions, gone when the parent is. */
export function makeSubagents(parts: SubagentParts): Subagents {
  const background = new Map<
    string,
    { readonly title: string; readonly startedAtMs: number; readonly end: AbortController }
  >();
  const owners = createOwners();

  async function run(order: AgentOrder, agentId: string, signal: AbortSignal): Promise<AgentReport> {
    const kind = parts.kinds().find(({ name }) => name === order.type);
    if (kind === undefined) return failed(`There is no kind of sub-agent "${order.type}".`);
    owners.enter(agentId, order.callId, parts.cwd());
    try {
      await parts.hooks.fire('SubagentStart', { agent_id: agentId, agent_type: kind.name }, signal);
      return await loop(order, kind, agentId, signal);
    } finally {
      owners.leave(agentId);
    }
  }

  async function loop(order: AgentOrder, kind: AgentKind, agentId: string, signal: AbortSignal): Promise<AgentReport> {
    const prompt: Message = {
      role: 'user',
      id: parts.newId(),
      origin: 'prompt',
      blocks: [{ type: 'text', text: order.prompt }],
    };
    const tell = (event: AgentEvent) =>
      parts.tell({ type: 'subagent', callId: order.callId, agentId, agentType: kind.name, event });
    const startedAt = Date.now();
    await tell({ type: 'agent_start' });
    await tell({ type: 'message_end', message: prompt });
    let calls = 0;
    let tokens = 0;
    let text = '';
    const report = (line: string) =>
      order.report({ kind: 'agent', agentId, agentType: kind.name, line, calls, tokens });
    const events = query([prompt], depsOf(order, kind, agentId), signal);
    for (;;) {
      const step = await events.next();
      if (step.done === true) {
        await tell({ type: 'agent_end', terminal: step.value, durationMs: Date.now() - startedAt });
        if (step.value.reason === 'completed') return { text, calls, tokens, failed: false };
        const why = step.value.words ?? step.value.failure?.message ?? step.value.reason;
        return { text: [text, `It ended early: ${why}`].join('\n').trim(), calls, tokens, failed: true };
      }
      const event = step.value;
      await tell(event);
      if (event.type === 'tool_start') {
        calls += 1;
        report(event.title.startsWith(event.tool) ? event.title : `${event.tool} ${event.title}`);
      }
      if (event.type === 'turn_end') tokens += (event.usage?.outputTokens ?? 0) + (event.usage?.inputTokens ?? 0);
      if (event.type === 'message_end' && event.message.role === 'assistant') text = wordsOf(event.message);
    }
  }

  function depsOf(order: AgentOrder, kind: AgentKind, agentId: string): QueryDeps {
    // Lines about its calls are for the person who looks at the parent.
    const { summarizeCalls: _, ...base } = parts.deps(kind);
    const wanted = order.model ?? kind.model ?? 'inherit';
    const first = wanted === 'inherit' ? [] : [{ model: parts.resolveModel(wanted) }];
    const chain = [...first, ...base.config.chain];
    const reads = createReadState();
    const tools = toolsOfAgent(kind, parts.tools(reads), owners.depthOf(agentId));
    const system = [{ name: 'agent', text: kind.prompt }, ...parts.environmentPart()];
    return {
      ...base,
      config: { ...base.config, maxTurns: kind.maxTurns, tokenBudget: undefined, chain, skipFirstPoll: true },
      system: () => system,
      tools: () => tools,
      // Who cannot search for tools is sent all it may use.
      toolSpecs: tools.some(({ name }) => name === 'ToolSearch')
        ? base.toolSpecs
        : (offered) => offered.map(({ spec }) => spec),
      cwd: () => owners.cwdOf(agentId) ?? base.cwd(),
      gate: (request, hint, signal) => {
        owners.claim(request.callId, agentId);
        return base.gate({ ...request, agentId }, hint, signal);
      },
      context: parts.contextFor({ model: chain[0]?.model ?? '', system, tools, reads }),
      queues: { takeSteering: () => [], takeFollowUps: () => [], hasSteering: () => false },
      attachments: async () => [],
    };
  }

  return {
    types: () => parts.kinds().map(({ name, description }) => ({ name, description })),
    run: (order, signal) => run(order, newAgentId(), signal),
    runInBackground(order) {
      const id = newAgentId();
      const end = new AbortController();
      background.set(id, { title: order.description, startedAtMs: Date.now(), end });
      const { callId, description: title } = order;
      const news = { type: 'background', id, callId, kind: 'agent', title } as const;
      void parts.tell({ ...news, state: 'started' });
      // Nobody waits for it; its end is told with the next turn.
      const signal = AbortSignal.any([parts.signal(), end.signal]);
      void run(order, id, signal)
        .catch((thrown) => failed(messageOf(thrown)))
        .then((report) => {
          background.delete(id);
          const state = !report.failed ? 'completed' : signal.aborted ? 'stopped' : 'failed';
          const words = `Sub-agent ${id} (${title}) ${ENDS[state]}`;
          parts.notice(`${words}:\n${report.text}`);
          void parts.tell({ type: 'notice', level: 'info', topic: 'background', text: `${words}.` });
          void parts.tell({ ...news, state, words: `${words}.` });
        });
      return id;
    },
    moved: owners.moved,
    running: () => [...background].map(([id, { title, startedAtMs }]) => ({ id, title, startedAtMs })),
    stop(id) {
      const found = background.get(id);
      found?.end.abort();
      return found !== undefined;
    },
  };

  function newAgentId(): string {
    return `agent_${parts.newId().slice(0, 8)}`;
  }
}

const ENDS = { completed: 'has finished', failed: 'has failed', stopped: 'was stopped' } as const;

function failed(text: string): AgentReport {
  return { text, calls: 0, tokens: 0, failed: true };
}

function wordsOf(message: Extract<Message, { role: 'assistant' }>): string {
  return message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
