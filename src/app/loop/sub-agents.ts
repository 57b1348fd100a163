import type { AgentEvent } from '../../contracts/event.ts';
import type { AgentKind } from '../../contracts/extension.ts';
import type { AssistantMessage, Message } from '../../contracts/message.ts';
import { query } from '../../engine/query.ts';
import type { HookRunners } from '../../hooks/act.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { messageOf } from '../../lib/errors.ts';
import type { CallOwners } from '../../tools/task/call-owners.ts';
import type { AgentOrder, AgentReport, TaskParts } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import type { SubAgentAsking } from './agent-deps.ts';
import { openAgentPlace } from './agents/agent-place.ts';
import { agentWords } from './agents/agent-words.ts';
import type { Fallbacks } from './fallbacks.ts';
import type { QueryDepsSource } from './query-deps.ts';

export type SubAgents = TaskParts & {
  /** Looks around for a hook and answers its question. */
  readonly answerHook: HookRunners['askAgent'];
  /** Those nobody waits for. */
  readonly running: () => readonly { readonly id: string; readonly title: string; readonly startedAtMs: number }[];
  /** Ends one of them; false when there is none of that id. */
  readonly stop: (id: string) => boolean;
  /** Nothing in the background outlives the session. */
  readonly close: () => void;
};

type Needs = {
  readonly owners: CallOwners;
  readonly hooks: Hooks;
  readonly deps: QueryDepsSource;
  readonly learn: Fallbacks['learn'];
  /** Told to the model with its next turn. */
  readonly addNews: (words: string) => void;
};

/** Runs sub-agents: each its own loop and messages, with at most the parent's permissions, gone when the parent is. */
export function createSubAgents(core: Core, { owners, hooks, deps, learn, addNews }: Needs): SubAgents {
  const { bus, extensions, live } = core;
  const kinds = () => extensions.now().agents;

  async function run(order: AgentOrder, agentId: string, signal: AbortSignal): Promise<AgentReport> {
    const found = kinds().find(({ name }) => name === order.type);
    if (found === undefined) return failed(`There is no kind of sub-agent "${order.type}".`);
    const kind = order.effort === undefined ? found : { ...found, effort: order.effort };
    const parent = owners.standOf(order.callId) ?? { cwd: live.now().cwd };
    const wanted = { name: kind.name, isolation: order.isolation ?? kind.isolation };
    const place = await openAgentPlace(core, wanted, parent, hooks).catch(messageOf);
    if (typeof place === 'string') return failed(`It was not started: ${place}`);
    let left: string | undefined;
    let report: AgentReport;
    try {
      owners.enter(agentId, order.callId, place.stand);
      const isOfHook = order.callId === '';
      const fire = isOfHook ? hooks.ofHooks : hooks;
      const { context } = await fire.fire('SubagentStart', { agent_id: agentId, agent_type: kind.name }, signal);
      const [own] = await Promise.all([agentWords(core, kind), learn(modelsOf(order, kind))]);
      const words = context === undefined ? own : `${own}\n\n${context}`;
      report = await converse(order, { kind, agentId, place, words, isOfHook, model: order.model }, signal);
    } finally {
      owners.leave(agentId);
      left = await place.leave();
    }
    return left === undefined ? report : { ...report, text: `${report.text}\n\n${left}` };
  }

  async function converse(order: AgentOrder, asking: SubAgentAsking, signal: AbortSignal): Promise<AgentReport> {
    const { callId } = order;
    const { kind, agentId } = asking;
    const tell = (event: AgentEvent) => bus.tell({ type: 'subagent', callId, agentId, agentType: kind.name, event });
    const startedAt = core.now();
    await tell({ type: 'agent_start' });
    const prompt: Message = {
      role: 'user',
      id: core.newId(),
      origin: 'prompt',
      blocks: [{ type: 'text', text: order.prompt }],
    };
    await tell({ type: 'message_end', message: prompt });
    let progress: Progress = { text: '', calls: 0, tokens: 0 };
    const events = query([prompt], deps.subAgent(bus.port(), asking), signal);
    for (let step = await events.next(); ; step = await events.next()) {
      if (step.done === true) {
        const terminal = step.value;
        await tell({ type: 'agent_end', terminal, durationMs: core.now() - startedAt });
        if (terminal.reason === 'completed') return { ...progress, failed: false };
        const why = terminal.words ?? terminal.failure?.message ?? terminal.reason;
        return { ...progress, text: [progress.text, `It ended early: ${why}`].join('\n').trim(), failed: true };
      }
      const event = step.value;
      await tell(event);
      progress = progressAfter(progress, event);
      if (event.type !== 'tool_start') continue;
      const line = event.title.startsWith(event.tool) ? event.title : `${event.tool} ${event.title}`;
      const { calls, tokens } = progress;
      order.report({ kind: 'agent', agentId, agentType: kind.name, line, calls, tokens });
    }
  }

  const newAgentId = () => `agent_${core.newId().slice(0, 8)}`;
  const background = createBackground(core, addNews);
  return {
    types: kinds,
    async answerHook({ prompt, model }, signal) {
      const order = { callId: '', type: 'Explore', description: 'A hook asks', prompt, model, isolation: undefined };
      const { text, failed: isLost } = await run({ ...order, report: () => undefined }, newAgentId(), signal);
      return isLost ? undefined : text;
    },
    run: (order, signal) => run(order, newAgentId(), signal),
    runInBackground(order) {
      const id = newAgentId();
      background.begin(id, order, (signal) => run(order, id, signal));
      return id;
    },
    ...background,
  };
}

/** A model of its own, where it has one. */
function modelsOf({ model }: AgentOrder, kind: AgentKind): readonly string[] {
  const wanted = model ?? kind.model ?? 'inherit';
  return wanted === 'inherit' ? [] : [wanted];
}

/** Sub-agents nobody waits for: their end is told with the model's next turn. */
function createBackground({ bus, now }: Core, addNews: Needs['addNews']) {
  const running = new Map<string, Background>();

  function ended(id: string, { callId, description: title }: AgentOrder, report: AgentReport): void {
    const wasStopped = running.get(id)?.end.signal.aborted === true;
    running.delete(id);
    const state = !report.failed ? 'completed' : wasStopped ? 'stopped' : 'failed';
    const words = `Sub-agent ${id} (${title}) ${ENDS[state]}`;
    addNews(`${words}:\n${report.text}`);
    void bus.tell({ type: 'background', id, callId, kind: 'agent', title, state, words: `${words}.` });
  }

  return {
    begin(id: string, order: AgentOrder, run: (signal: AbortSignal) => Promise<AgentReport>): void {
      const { callId, description: title } = order;
      const end = new AbortController();
      running.set(id, { title, startedAtMs: now(), end });
      void bus.tell({ type: 'background', id, callId, kind: 'agent', title, state: 'started' });
      void run(end.signal)
        .catch((thrown) => failed(messageOf(thrown)))
        .then((report) => ended(id, order, report));
    },
    running: () => [...running].map(([id, { title, startedAtMs }]) => ({ id, title, startedAtMs })),
    stop(id: string): boolean {
      const found = running.get(id);
      found?.end.abort();
      return found !== undefined;
    },
    close(): void {
      for (const { end } of running.values()) end.abort();
    },
  };
}

type Background = { readonly title: string; readonly startedAtMs: number; readonly end: AbortController };

const ENDS = { completed: 'has finished', failed: 'has failed', stopped: 'was stopped' } as const;

type Progress = Pick<AgentReport, 'text' | 'calls' | 'tokens'>;

function progressAfter(progress: Progress, event: AgentEvent): Progress {
  switch (event.type) {
    case 'tool_start':
      return { ...progress, calls: progress.calls + 1 };
    case 'turn_end': {
      const used = (event.usage?.outputTokens ?? 0) + (event.usage?.inputTokens ?? 0);
      return { ...progress, tokens: progress.tokens + used };
    }
    case 'message_end':
      return event.message.role === 'assistant' ? { ...progress, text: wordsOf(event.message) } : progress;
    default:
      return progress;
  }
}

function failed(text: string): AgentReport {
  return { text, calls: 0, tokens: 0, failed: true };
}

function wordsOf({ blocks }: AssistantMessage): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
