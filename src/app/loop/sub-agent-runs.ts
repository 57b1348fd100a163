import type { AgentEvent } from '../../contracts/event.ts';
import type { SubAgentDefinition } from '../../contracts/extension.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { Message } from '../../contracts/message.ts';
import type { ToolProgress } from '../../contracts/tool.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import type { McpServers } from '../../mcp/session-servers.ts';
import type { ModelFallbacks } from '../../model/model-fallbacks.ts';
import type { Session } from '../../session/session.ts';
import {
  buildSubAgentRegistry,
  createSubAgentEndRecord,
  createSubAgentStartRecord,
  listStoredSubAgents,
  NO_TOKEN_USAGE,
  readSubAgentMessages,
  reduceSubAgent,
  type SubAgent,
  type SubAgentRegistry,
  updateSubAgent,
} from '../../session/sub-agents.ts';
import { createFileReadState, type FileReadState } from '../../tools/files/file-read-state.ts';
import type { SubAgentCallRegistry } from '../../tools/task/sub-agent-call-registry.ts';
import type { SubAgentReport } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import type { QueryDepsFactory } from './query-deps-factory.ts';
import type { QueryingSubAgent } from './sub-agent-query-deps.ts';
import { createSubAgentRunner, type SubAgentHistory, type SubAgentRunner } from './sub-agent-runner.ts';
import { buildSubAgentInstructions, openSubAgentWorkspace } from './sub-agent-setup.ts';

/** A run of a sub-agent: its prompt, and the call that started it. */
export type SubAgentRun = {
  readonly prompt: string;
  readonly byCall: string;
  readonly report: (progress: ToolProgress) => void;
  /** Started by a hook: it gets no messages and is not recorded. */
  readonly isForHook?: true;
};

/** A run that has started, and the report at its end. */
type StartedRun = { readonly runner: SubAgentRunner; readonly report: Promise<SubAgentReport> };

/** The sub-agents of a session and their runs. Each sub-agent has at most one run at a time. */
export type SubAgentRuns = {
  getRegistry(): SubAgentRegistry;
  getRunner(id: string): SubAgentRunner | undefined;
  /** Starts a run at once. A sub-agent that has run before continues its conversation. */
  start(agent: SubAgent, run: SubAgentRun): StartedRun;
  messages(id: string): Promise<readonly Message[]>;
  /** Takes the sub-agents that were running when the last process ended. */
  takeInterrupted(): readonly SubAgent[];
  /** Stops all runs. Resolves when they have ended. */
  close(): Promise<void>;
};

/** The sub-agent for which features are listed. */
type FeaturedSubAgent = {
  readonly kind: SubAgentDefinition;
  readonly agentId: string;
  /** A hook started it, so hooks that start sub-agents do not run for it. */
  readonly isForHook: boolean;
};

/** Lists the features of one run of a sub-agent. */
export type ListSubAgentFeatures = (agent: FeaturedSubAgent, readState: FileReadState) => readonly Feature[];

type AgentRunDeps = {
  readonly session: Session;
  readonly owners: SubAgentCallRegistry;
  readonly hooks: Hooks;
  readonly deps: QueryDepsFactory;
  readonly listSubAgentFeatures: ListSubAgentFeatures;
  readonly learn: ModelFallbacks['lookUpModels'];
  readonly mcp: McpServers;
};

const NO_HISTORY: SubAgentHistory = { messages: [], queued: [] };

/** Creates the runs of sub-agents, with the sub-agents that the session has stored. */
export function createSubAgentRuns(core: Core, deps: AgentRunDeps): SubAgentRuns {
  const { transcript } = deps.session;
  const { folder, path, sessionId } = transcript;
  let roster = buildSubAgentRegistry(listStoredSubAgents(folder));
  const running = new Map<string, StartedRun>();
  /** History of sub-agents whose session is not stored on disk. */
  const inMemory = new Map<string, SubAgentHistory>();

  async function readHistory(id: string): Promise<SubAgentHistory> {
    if (path === undefined) return inMemory.get(id) ?? NO_HISTORY;
    return readSubAgentMessages(folder, id).catch(() => NO_HISTORY);
  }

  function updateRoster(agent: SubAgent, { isForHook }: SubAgentRun): void {
    if (isForHook !== true) roster = updateSubAgent(roster, agent);
  }

  async function record(agent: SubAgent, run?: SubAgentRun): Promise<void> {
    if (run?.isForHook === true) return;
    const { id, state, calls, tokens, line } = agent;
    const body =
      state === 'working' ? createSubAgentStartRecord(agent) : createSubAgentEndRecord({ state, calls, tokens, line });
    await transcript.appendToSubAgent(id, body);
  }

  function start(initial: SubAgent, run: SubAgentRun): StartedRun {
    const isKnown = roster.has(initial.id);
    let agent: SubAgent = { ...initial, state: 'working', startedAtMs: core.now(), usage: NO_TOKEN_USAGE, text: '' };
    const onEvent = (event: AgentEvent) => {
      const { callId, id: agentId, kind: agentType } = agent;
      agent = reduceSubAgent(agent, event);
      updateRoster(agent, run);
      const { line, calls, tokens } = agent;
      if (event.type === 'tool_start') run.report({ kind: 'agent', agentId, agentType, line, calls, tokens });
      return core.bus.emit({ type: 'subagent', callId, agentId, agentType, event });
    };
    const runner = createSubAgentRunner(core, sessionId, onEvent);

    async function finish(): Promise<SubAgentReport> {
      const earlier = isKnown ? await readHistory(agent.id) : NO_HISTORY;
      await record(agent, run);
      const end = await runAgent(core, deps, { agent, runner, run, earlier }).catch((thrown) => ({
        problem: getErrorMessage(thrown),
      }));
      const isCompleted = end.problem === undefined;
      agent = {
        ...agent,
        state: isCompleted ? 'completed' : runner.signal.aborted ? 'stopped' : 'failed',
        endedAtMs: core.now(),
      };
      if (path === undefined) inMemory.set(agent.id, { messages: runner.messages(), queued: [] });
      running.delete(agent.id);
      updateRoster(agent, run);
      await record(agent, run);
      return createReport(agent, initial, end);
    }

    updateRoster(agent, run);
    const report = finish();
    const started = { runner, report };
    running.set(agent.id, started);
    return started;
  }

  return {
    getRegistry: () => roster,
    getRunner: (id) => running.get(id)?.runner,
    start,
    messages: async (id) => running.get(id)?.runner.messages() ?? (await readHistory(id)).messages,
    takeInterrupted() {
      const interrupted = [...roster.values()].filter(
        ({ state, endedAtMs }) => state === 'cut' && endedAtMs === undefined,
      );
      for (const agent of interrupted) void record(agent);
      return interrupted;
    },
    async close() {
      for (const { runner } of running.values()) runner.stop();
      await Promise.all([...running.values()].map(({ report }) => report));
    },
  };
}

/** The end of a run: the reason for a failure, and a note about its worktree. */
type RunEnd = { readonly problem?: string | undefined; readonly left?: string | undefined };

type RunParts = {
  readonly agent: SubAgent;
  readonly runner: SubAgentRunner;
  readonly run: SubAgentRun;
  readonly earlier: SubAgentHistory;
};

async function runAgent(core: Core, deps: AgentRunDeps, { agent, runner, run, earlier }: RunParts): Promise<RunEnd> {
  const { owners, hooks, learn } = deps;
  const { id: agentId, model } = agent;
  const definition = core.extensions.current().agents.find(({ name }) => name === agent.kind);
  if (definition === undefined) return { problem: `There is no kind of sub-agent "${agent.kind}".` };
  const kind = agent.effort === undefined ? definition : { ...definition, effort: agent.effort };
  const parent = owners.getLocation(run.byCall) ?? { cwd: core.live.current().cwd };
  const request = { name: kind.name, agentId, isolation: agent.isolation ?? kind.isolation };
  const workspace = await openSubAgentWorkspace(core, request, parent, hooks).catch(getErrorMessage);
  if (typeof workspace === 'string') return { problem: `It was not started: ${workspace}` };
  let end: RunEnd = {};
  const lease = await deps.mcp.leaseTools(Object.keys(kind.inlineMcpServers ?? {}), runner.signal);
  try {
    owners.addAgent(agentId, { ...workspace.location, depth: agent.depth });
    const isForHook = run.isForHook === true;
    const agentHooks = isForHook ? hooks.withoutAgentHooks : hooks;
    const { context } = await agentHooks.fire(
      'SubagentStart',
      { agent_id: agentId, agent_type: kind.name },
      runner.signal,
    );
    const [instructions] = await Promise.all([
      buildSubAgentInstructions(core, kind),
      learn(listOwnModels(model ?? kind.model)),
    ]);
    const systemPrompt = context === undefined ? instructions : `${instructions}\n\n${context}`;
    const readState = createFileReadState();
    const features = deps.listSubAgentFeatures({ kind, agentId, isForHook }, readState);
    const asking: QueryingSubAgent = {
      ...{ kind, agentId, workspace, systemPrompt, model, features, readState },
      privateTools: lease.tools,
    };
    const terminal = await runner.run(run.prompt, {
      ...earlier,
      features,
      deps: ({ queues }) => deps.deps.subAgent({ ...core.bus.getPort(), queues }, asking),
    });
    const { reason, failure, words: message } = terminal;
    const problem = runner.signal.aborted
      ? 'It was stopped.'
      : `It ended early: ${message ?? failure?.message ?? reason}`;
    if (reason !== 'completed') end = { problem };
  } finally {
    owners.removeAgent(agentId);
    await lease.release();
    end = { ...end, left: await workspace.leave() };
  }
  return end;
}

/** Returns the model of the sub-agent, unless it inherits that of the conversation. */
function listOwnModels(model = 'inherit'): readonly string[] {
  return model === 'inherit' ? [] : [model];
}

function createReport(agent: SubAgent, before: SubAgent, { problem, left }: RunEnd): SubAgentReport {
  const { id, startedAtMs, endedAtMs = startedAtMs } = agent;
  const text = [problem === undefined ? agent.text : [agent.text, problem].join('\n').trim(), left];
  return {
    id,
    text: text.filter((part) => part !== undefined).join('\n\n'),
    calls: agent.calls - before.calls,
    tokens: agent.tokens - before.tokens,
    usage: agent.usage,
    durationMs: endedAtMs - startedAtMs,
    failed: problem !== undefined,
  };
}
