import { join } from 'node:path';
import type { AgentPort } from '../../agent/agent-deps.ts';
import type { TurnLog } from '../../context/report/turn-log.ts';
import type { SubAgentDefinition } from '../../contracts/extension.ts';
import type { Feature } from '../../contracts/feature.ts';
import { type ContextPort, DEFAULT_LOOP_GUARD, type QueryDeps } from '../../contracts/query.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { Tool } from '../../contracts/tool.ts';
import { completeQueryDeps, type QueryDepsInput } from '../../engine/default-deps.ts';
import { composeApprover } from '../../engine/features.ts';
import { selectAgentTools } from '../../extensions/apply-agent.ts';
import type { RunOverrides } from '../../hooks/run-overrides.ts';
import { getPlanModeModel, resolveModel } from '../../model/built-in-models.ts';
import { deriveEffortFromThinkingBudget } from '../../model/efforts.ts';
import type { ModelFallbacks } from '../../model/model-fallbacks.ts';
import type { AutoModeJudge } from '../../permissions/auto-mode-judge.ts';
import type { SessionSystemPrompt } from '../../prompt/session-system-prompt.ts';
import { SUB_AGENT_PROMPT } from '../../prompt/system-prompt.ts';
import type { Session } from '../../session/session.ts';
import { createResultCap } from '../../tools/cap-result.ts';
import { editTraits } from '../../tools/edit/edit.ts';
import type { FileReadState } from '../../tools/files/file-read-state.ts';
import { readTraits } from '../../tools/read/read.ts';
import { createSideRequests } from '../../tools/side-requests.ts';
import type { SubAgentCallRegistry } from '../../tools/task/sub-agent-call-registry.ts';
import { toolSearchTraits } from '../../tools/tool-search.ts';
import { findBuiltInToolTraits } from '../../tools/tool-traits.ts';
import { writeTraits } from '../../tools/write.ts';
import type { Core } from '../core.ts';
import type { PermissionGateOverrides } from '../permissions/query-permission-gate.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import type { SubAgentRequestParts } from './context-pipeline.ts';
import type { FeatureLists } from './list-features.ts';
import { createSubAgentGateBounds, type SubAgentWorkspace } from './sub-agent-setup.ts';
import type { Toolset } from './toolset.ts';

type QueryDepsParts = SubAgentQueryDeps & {
  readonly session: Session;
  readonly permissions: SessionPermissions;
  readonly context: ContextPort;
  readonly turnLog: TurnLog;
  readonly fallbacks: ModelFallbacks;
  readonly runOverrides: RunOverrides;
  readonly judge: AutoModeJudge;
  readonly features: FeatureLists;
};

/** Creates the dependencies of each query, as a snapshot at its start. */
export type QueryDepsFactory = {
  conversation(port: AgentPort): QueryDeps;
  /** Creates the dependencies of a sub-agent's query, with at most the permissions of its parent. */
  subAgent(port: AgentPort, asking: QueryingSubAgent): QueryDeps;
  /** Creates a permission gate, optionally with the bounds and features of a sub-agent. */
  gate(port: AgentPort, bounds?: PermissionGateOverrides, features?: readonly Feature[]): QueryDeps['gate'];
};

/** Creates the source of query dependencies. */
export function createQueryDepsFactory(core: Core, parts: QueryDepsParts): QueryDepsFactory {
  const { options, live, model, settings, meter } = core;
  const { session, permissions, toolset, prompt, runOverrides } = parts;
  const capResult = createResultCap(() => join(session.transcript.folder, 'results'), core.knownKeys.remove);
  const { summarizeCalls } = createSideRequests(core);

  const gate: QueryDepsFactory['gate'] = (port, bounds, features = parts.features.conversation) => {
    const approvers = { askHook: composeApprover(features), askJudge: parts.judge.judgeCall };
    return permissions.createGate({ ...port, ...approvers }, bounds);
  };

  /** Creates the dependencies that the conversation and its sub-agents share. */
  function createSharedDeps(port: AgentPort) {
    const { effort: liveEffort, thinkingTokens, model: liveModel } = live.current();
    const effort = runOverrides.effort() ?? liveEffort;
    const override = runOverrides.model() ?? findPlanModel(core);
    const config = {
      chain: parts.fallbacks
        .getChain(override === undefined ? liveModel : resolveModel(override))
        .map((name) => ({ model: name })),
      effort: deriveEffortFromThinkingBudget(effort, thinkingTokens),
      thinkingBudgetTokens: thinkingTokens,
      maxTurns: options.maxTurns,
      maxBudgetUsd: options.maxBudgetUsd,
      tokenBudget: options.tokenBudget,
      autoCompact: settings.current().autoCompact ?? true,
      loopGuard: getLoopGuard(settings.current()),
      partialMessages: options.partialMessages,
      betas: options.betas ?? [],
      contextAdvice: CONTEXT_ADVICE,
    };
    const { ask, onWait, queues } = port;
    const { infoOf: modelInfo } = model;
    return { config, modelInfo, ask, onWait, queues, capResult, costUsd: meter.getCostUsd, newId: core.newId };
  }

  return {
    gate,
    conversation(port) {
      const system = prompt.system.parts();
      const deps = completeQueryDeps({
        ...createSharedDeps(port),
        model: session.recordedPort,
        toolSpecs: toolset.getSpecs,
        cwd: () => live.current().cwd,
        gate: gate(port, { getRules: runOverrides.rules }),
        context: parts.context,
        transformRequest: parts.turnLog.recordRequest,
        ...(summarizeCalls === undefined ? {} : { summarizeCalls }),
      });
      return { ...deps, system: () => system, tools: toolset.listOffered };
    },
    subAgent(port, asking) {
      const agentGate = gate(port, createSubAgentGateBounds(core, asking.kind, asking.workspace), asking.features);
      return createSubAgentDeps(core, parts, { ...createSharedDeps(port), gate: agentGate }, asking);
    },
  };
}

function getLoopGuard({ loopGuard: { enabled = true, ...limits } = {} }: Settings): QueryDeps['config']['loopGuard'] {
  return enabled ? { ...DEFAULT_LOOP_GUARD, ...limits } : undefined;
}

const CONTEXT_ADVICE = {
  fullContext: 'Use /compact, or /clear to start over.',
  longMessage: 'Save it as a file and name the file: ouro reads the parts it needs.',
};

/** Returns the plan model of `opusplan` in plan mode, unless the user has chosen another model since. */
function findPlanModel({ options, environment, settings, live }: Core): string | undefined {
  const configured = options.model ?? environment.model ?? settings.current().model;
  const { mode, model } = live.current();
  if (mode !== 'plan' || configured === undefined || resolveModel(configured) !== model) return undefined;
  return getPlanModeModel(configured);
}

/** The sub-agent whose query dependencies are created, with its requested model. */
export type QueryingSubAgent = {
  readonly kind: SubAgentDefinition;
  readonly agentId: string;
  readonly model: string | undefined;
  readonly workspace: SubAgentWorkspace;
  /** Its system prompt: instructions, skills and notes. */
  readonly systemPrompt: string;
  /** Tools of MCP servers that only this sub-agent uses. */
  readonly privateTools: readonly Tool[];
  readonly features: readonly Feature[];
  readonly readState: FileReadState;
};

/** The parts of the conversation that a sub-agent's query depends on. */
type SubAgentQueryDeps = {
  readonly toolset: Toolset;
  readonly owners: SubAgentCallRegistry;
  readonly prompt: SessionSystemPrompt;
  readonly contextFor: (agent: SubAgentRequestParts) => ContextPort;
};

/** Dependencies shared with the conversation, with a gate for this sub-agent. */
type SharedDeps = Omit<QueryDepsInput, 'model' | 'tools' | 'system'> & {
  readonly config: QueryDeps['config'] | QueryDepsInput['config'];
  readonly gate: QueryDeps['gate'];
};

const NOTE_TOOLS = [readTraits.name, writeTraits.name, editTraits.name];

function createSubAgentDeps(
  { live, model }: Pick<Core, 'live' | 'model'>,
  { toolset, owners, prompt, contextFor }: SubAgentQueryDeps,
  { config, gate: agentGate, ...shared }: SharedDeps,
  {
    kind,
    agentId,
    workspace,
    systemPrompt,
    privateTools,
    readState,
    model: requestedModel = kind.model ?? 'inherit',
  }: QueryingSubAgent,
): QueryDeps {
  const ownModel = requestedModel === 'inherit' ? [] : [{ model: resolveModel(requestedModel) }];
  const chain = [...ownModel, ...config.chain];
  const depth = owners.getDepth(agentId);
  const tools = selectAgentTools(kind, toolset.createForSubAgent(readState, privateTools), {
    depth,
    toolNamed: findBuiltInToolTraits,
    noteTools: NOTE_TOOLS,
  });
  const system = [
    { name: 'core', text: SUB_AGENT_PROMPT },
    { name: 'agent', text: systemPrompt },
    ...prompt.listDynamicParts(),
    ...(workspace.promptText === undefined ? [] : [{ name: 'worktree', text: workspace.promptText }]),
  ];
  const first = chain[0] ?? '';
  const deps = completeQueryDeps({
    ...shared,
    config: {
      ...config,
      ...(kind.effort === undefined ? {} : { effort: kind.effort }),
      maxTurns: kind.maxTurns,
      tokenBudget: undefined,
      chain,
    },
    model: model.port,
    // Without the ToolSearch tool, all tools are sent.
    toolSpecs: tools.some(({ name }) => name === toolSearchTraits.name)
      ? toolset.getSpecs
      : (offered) => offered.flatMap(({ spec, isHidden }) => (isHidden === true ? [] : [spec])),
    cwd: () => owners.getCwd(agentId) ?? live.current().cwd,
    gate(request, hint, signal) {
      owners.assignCall(request.callId, agentId);
      return agentGate({ ...request, agentId }, hint, signal);
    },
    context: contextFor({ model: typeof first === 'string' ? first : first.model, system, tools, readState }),
  });
  return { ...deps, system: () => system, tools: () => tools };
}
