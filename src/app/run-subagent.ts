import type { AgentEvent } from '../contracts/event.ts';
import type { AgentKind } from '../contracts/extension.ts';
import type { Message } from '../contracts/message.ts';
import type { SystemPart } from '../contracts/model.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { Tool } from '../contracts/tool.ts';
import { query } from '../engine/query.ts';
import type { Hooks } from '../hooks/create-hooks.ts';
import type { AgentOrder, AgentReport, TaskParts } from '../tools/task/task.ts';

/** Sub-agents may start sub-agents of their own, this deep. */
const MAX_DEPTH = 2;

export type SubagentParts = {
  readonly kinds: () => readonly AgentKind[];
  /** The parent's dependencies as they are now; a sub-agent never has more. */
  readonly deps: (kind: AgentKind) => QueryDeps;
  readonly tools: () => readonly Tool[];
  readonly environmentPart: () => readonly SystemPart[];
  readonly resolveModel: (name: string) => string;
  readonly hooks: Hooks;
  readonly tell: (event: AgentEvent) => Promise<void>;
  readonly notice: (words: string) => void;
  readonly newId: () => string;
  readonly signal: () => AbortSignal;
};

/** Runs sub-agents: each its own loop and messages, with at most the parent's permissions, gone when the parent is. */
export function makeSubagents(parts: SubagentParts): TaskParts & {
  readonly running: () => readonly { readonly id: string; readonly title: string; readonly startedAtMs: number }[];
} {
  const running = new Map<string, { readonly title: string; readonly startedAtMs: number }>();
  const depthOf = new Map<string, number>();

  async function run(order: AgentOrder, signal: AbortSignal): Promise<AgentReport> {
    const kind = parts.kinds().find(({ name }) => name === order.type);
    if (kind === undefined)
      return { text: `There is no kind of sub-agent "${order.type}".`, calls: 0, tokens: 0, failed: true };
    const depth = (depthOf.get(order.callId) ?? 0) + 1;
    const agentId = parts.newId().slice(0, 8);
    running.set(agentId, { title: order.description, startedAtMs: Date.now() });
    await parts.hooks.fire('SubagentStart', { agent_id: agentId, agent_type: kind.name }, signal);
    try {
      return await loop(order, kind, agentId, depth, signal);
    } finally {
      running.delete(agentId);
    }
  }

  async function loop(
    order: AgentOrder,
    kind: AgentKind,
    agentId: string,
    depth: number,
    signal: AbortSignal,
  ): Promise<AgentReport> {
    const base = parts.deps(kind);
    const model = order.model ?? kind.model;
    const prompt: Message = {
      role: 'user',
      id: parts.newId(),
      origin: 'prompt',
      blocks: [{ type: 'text', text: order.prompt }],
    };
    const tools = offered(kind, parts.tools(), depth);
    const deps: QueryDeps = {
      ...base,
      config: {
        ...base.config,
        maxTurns: kind.maxTurns,
        chain: model === undefined ? base.config.chain : [{ model: parts.resolveModel(model) }, ...base.config.chain],
        skipFirstPoll: true,
      },
      system: () => [{ name: 'agent', text: kind.prompt }, ...parts.environmentPart()],
      tools: () => tools,
      queues: { takeSteering: () => [], takeFollowUps: () => [], hasSteering: () => false },
      attachments: async () => [],
    };
    const tell = (event: AgentEvent) =>
      parts.tell({ type: 'subagent', callId: order.callId, agentId, agentType: kind.name, event });
    await tell({ type: 'message_end', message: prompt });
    let calls = 0;
    let tokens = 0;
    let text = '';
    const events = query([prompt], deps, signal);
    for (;;) {
      const step = await events.next();
      if (step.done === true) {
        const failed = step.value.reason !== 'completed';
        const words = failed && text === '' ? (step.value.words ?? `It ended early: ${step.value.reason}.`) : text;
        return { text: words, calls, tokens, failed };
      }
      const event = step.value;
      await tell(event);
      if (event.type === 'tool_start') {
        calls += 1;
        depthOf.set(event.callId, depth);
        order.report({
          kind: 'agent',
          agentId,
          agentType: kind.name,
          line: `${event.tool} ${event.title}`,
          calls,
          tokens,
        });
      }
      if (event.type === 'turn_end') tokens += (event.usage?.outputTokens ?? 0) + (event.usage?.inputTokens ?? 0);
      if (event.type === 'message_end' && event.message.role === 'assistant') text = wordsOf(event.message);
    }
  }

  return {
    types: () => parts.kinds().map(({ name, description }) => ({ name, description })),
    run,
    runInBackground(order) {
      const id = `agent_${parts.newId().slice(0, 6)}`;
      void run(order, parts.signal()).then((report) =>
        parts.notice(
          `Sub-agent ${id} (${order.description}) has ${report.failed ? 'failed' : 'finished'}:\n${report.text}`,
        ),
      );
      return id;
    },
    running: () => [...running].map(([id, facts]) => ({ id, ...facts })),
  };
}

function offered(kind: AgentKind, tools: readonly Tool[], depth: number): readonly Tool[] {
  const named = (tool: Tool, names: readonly string[]) =>
    names.includes(tool.name) || tool.aliases.some((alias) => names.includes(alias));
  return tools.filter((tool) => {
    if (depth >= MAX_DEPTH && tool.name === 'Task') return false;
    if (tool.name === 'AskUserQuestion' || tool.name === 'ExitPlanMode' || tool.name === 'EnterPlanMode') return false;
    if (named(tool, kind.disallowedTools)) return false;
    return kind.tools === undefined || named(tool, kind.tools);
  });
}

function wordsOf(message: Extract<Message, { role: 'assistant' }>): string {
  return message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
