import type { AgentEvent } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';
import type { ToolProgress } from '../../contracts/tool.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { messageOf } from '../../lib/errors.ts';
import {
  afterEvent,
  NO_USAGE,
  type Roster,
  rosterOf,
  type SubAgent,
  withAgent,
} from '../../session/sub-agents/roster.ts';
import { beginRecord, endRecord, readSubAgent, storedSubAgents } from '../../session/sub-agents/stored-sub-agents.ts';
import type { CallOwners } from '../../tools/task/call-owners.ts';
import type { AgentReport } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import type { McpServers } from '../mcp/servers.ts';
import type { Session } from '../session/session.ts';
import { openAgentPlace } from './agents/agent-place.ts';
import { agentWords } from './agents/agent-words.ts';
import { type Earlier, type HeldAgent, holdAgent } from './agents/hold-agent.ts';
import type { Fallbacks } from './fallbacks.ts';
import type { QueryDepsSource } from './query-deps.ts';

/** What a sub-agent is told, and by which call. */
export type AgentRun = {
  readonly words: string;
  readonly byCall: string;
  readonly report: (progress: ToolProgress) => void;
  /** A hook asks: nobody can speak to it, and nothing of it stays. */
  readonly isOfHook?: true;
};

/** The sub-agents of a session and what each does: one run of each at a time. */
export type AgentRuns = {
  roster(): Roster;
  held(id: string): HeldAgent | undefined;
  /** Begins at once; who has worked before goes on with what it knows. */
  start(agent: SubAgent, run: AgentRun): { readonly held: HeldAgent; readonly report: Promise<AgentReport> };
  /** What it has heard and said. */
  messages(id: string): Promise<readonly Message[]>;
  /** Those that were at work when the last process ended; told once. */
  takeCut(): readonly SubAgent[];
  /** Stops all, and resolves when they have ended. */
  close(): Promise<void>;
};

type Needs = {
  readonly session: Pick<Session, 'transcript'>;
  readonly owners: CallOwners;
  readonly hooks: Hooks;
  readonly deps: QueryDepsSource;
  readonly learn: Fallbacks['learn'];
  readonly mcp: Pick<McpServers, 'lend'>;
};

const NOTHING: Earlier = { messages: [], queued: [] };

export function createAgentRuns(core: Core, needs: Needs): AgentRuns {
  const { transcript } = needs.session;
  const { folder, path, sessionId } = transcript;
  let roster = rosterOf(storedSubAgents(folder));
  const atWork = new Map<string, { readonly held: HeldAgent; readonly ended: Promise<unknown> }>();
  /** Where no file keeps what they know. */
  const kept = new Map<string, Earlier>();

  async function earlierOf(id: string): Promise<Earlier> {
    if (path === undefined) return kept.get(id) ?? NOTHING;
    return readSubAgent(folder, id).catch(() => NOTHING);
  }

  function note(agent: SubAgent, { isOfHook }: AgentRun): void {
    if (isOfHook !== true) roster = withAgent(roster, agent);
  }

  async function record(agent: SubAgent, { isOfHook }: Pick<AgentRun, 'isOfHook'>): Promise<void> {
    if (isOfHook === true) return;
    const { id, state, calls, tokens, line } = agent;
    const body = state === 'working' ? beginRecord(agent) : endRecord({ state, calls, tokens, line });
    await transcript.appendOf(id, body);
  }

  function start(wanted: SubAgent, run: AgentRun): ReturnType<AgentRuns['start']> {
    const isKnown = roster.has(wanted.id);
    let agent: SubAgent = { ...wanted, state: 'working', startedAtMs: core.now(), usage: NO_USAGE, text: '' };
    const hear = (event: AgentEvent) => {
      const { callId, id: agentId, kind: agentType } = agent;
      agent = afterEvent(agent, event);
      note(agent, run);
      const { line, calls, tokens } = agent;
      if (event.type === 'tool_start') run.report({ kind: 'agent', agentId, agentType, line, calls, tokens });
      return core.bus.tell({ type: 'subagent', callId, agentId, agentType, event });
    };
    const held = holdAgent(core, { sessionId, hear });

    async function worked(): Promise<AgentReport> {
      const earlier = isKnown ? await earlierOf(agent.id) : NOTHING;
      await record(agent, run);
      const end = await work(core, needs, { agent, held, run, earlier }).catch((thrown) => ({
        why: messageOf(thrown),
      }));
      const isWell = end.why === undefined;
      agent = {
        ...agent,
        state: isWell ? 'completed' : held.signal.aborted ? 'stopped' : 'failed',
        endedAtMs: core.now(),
      };
      if (path === undefined) kept.set(agent.id, { messages: held.messages(), queued: [] });
      atWork.delete(agent.id);
      note(agent, run);
      await record(agent, run);
      return reportOf(agent, wanted, end);
    }

    note(agent, run);
    const report = worked();
    atWork.set(agent.id, { held, ended: report });
    return { held, report };
  }

  return {
    roster: () => roster,
    held: (id) => atWork.get(id)?.held,
    start,
    messages: async (id) => atWork.get(id)?.held.messages() ?? (await earlierOf(id)).messages,
    takeCut() {
      const cut = [...roster.values()].filter(({ state, endedAtMs }) => state === 'cut' && endedAtMs === undefined);
      for (const agent of cut) void record(agent, {});
      return cut;
    },
    async close() {
      for (const { held } of atWork.values()) held.stop();
      await Promise.all([...atWork.values()].map(({ ended }) => ended));
    },
  };
}

/** How a run came to its end: well, or why not; and what lies in a checkout of its own. */
type End = { readonly why?: string | undefined; readonly left?: string | undefined };

type Working = {
  readonly agent: SubAgent;
  readonly held: HeldAgent;
  readonly run: AgentRun;
  readonly earlier: Earlier;
};

async function work(core: Core, needs: Needs, { agent, held, run, earlier }: Working): Promise<End> {
  const { owners, hooks, learn } = needs;
  const { id: agentId, model } = agent;
  const found = core.extensions.now().agents.find(({ name }) => name === agent.kind);
  if (found === undefined) return { why: `There is no kind of sub-agent "${agent.kind}".` };
  const kind = agent.effort === undefined ? found : { ...found, effort: agent.effort };
  const parent = owners.standOf(run.byCall) ?? { cwd: core.live.now().cwd };
  const wish = { name: kind.name, agentId, isolation: agent.isolation ?? kind.isolation };
  const place = await openAgentPlace(core, wish, parent, hooks).catch(messageOf);
  if (typeof place === 'string') return { why: `It was not started: ${place}` };
  let end: End = {};
  const lent = await needs.mcp.lend(Object.keys(kind.ownServers ?? {}), held.signal);
  try {
    owners.enter(agentId, { ...place.stand, depth: agent.depth });
    const isOfHook = run.isOfHook === true;
    const fire = isOfHook ? hooks.ofHooks : hooks;
    const { context } = await fire.fire('SubagentStart', { agent_id: agentId, agent_type: kind.name }, held.signal);
    const [own] = await Promise.all([agentWords(core, kind), learn(modelsOf(model ?? kind.model))]);
    const words = context === undefined ? own : `${own}\n\n${context}`;
    const asking = { kind, agentId, place, words, isOfHook, model, ownTools: lent.tools };
    const terminal = await held.work(run.words, {
      ...earlier,
      deps: ({ queues }) => needs.deps.subAgent({ ...core.bus.port(), queues }, asking),
    });
    const { reason, failure, words: said } = terminal;
    const why = held.signal.aborted ? 'It was stopped.' : `It ended early: ${said ?? failure?.message ?? reason}`;
    if (reason !== 'completed') end = { why };
  } finally {
    owners.leave(agentId);
    await lent.giveBack();
    end = { ...end, left: await place.leave() };
  }
  return end;
}

/** A model of its own, where it has one. */
function modelsOf(wanted = 'inherit'): readonly string[] {
  return wanted === 'inherit' ? [] : [wanted];
}

/** What this run of it came to. */
function reportOf(agent: SubAgent, before: SubAgent, { why, left }: End): AgentReport {
  const { id, startedAtMs, endedAtMs = startedAtMs } = agent;
  const text = [why === undefined ? agent.text : [agent.text, why].join('\n').trim(), left];
  return {
    id,
    text: text.filter((part) => part !== undefined).join('\n\n'),
    calls: agent.calls - before.calls,
    tokens: agent.tokens - before.tokens,
    usage: agent.usage,
    durationMs: endedAtMs - startedAtMs,
    failed: why !== undefined,
  };
}
