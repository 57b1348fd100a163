import { join } from 'node:path';
import type { AgentPort } from '../../agent/agent-deps.ts';
import type { Feature } from '../../contracts/feature.ts';
import { type ContextPort, DEFAULT_LOOP_GUARD, type QueryDeps } from '../../contracts/query.ts';
import type { Settings } from '../../contracts/settings.ts';
import { completeQueryDeps } from '../../engine/default-deps.ts';
import { composeApprover } from '../../engine/features.ts';
import type { RunOverrides } from '../../hooks/run-overrides.ts';
import { getPlanModeModel, resolveModel } from '../../model/built-in-models.ts';
import { deriveEffortFromThinkingBudget } from '../../model/efforts.ts';
import type { Session } from '../../session/session.ts';
import { createResultCap } from '../../tools/cap-result.ts';
import { createSideRequests } from '../../tools/side-requests.ts';
import type { Core } from '../core.ts';
import type { PermissionGateOverrides } from '../permissions/query-permission-gate.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import type { CreateSubAgentContext } from './context-pipeline.ts';
import type { RequestParts } from './request-parts.ts';
import { createSubAgentQueryDeps, type QueryingSubAgent } from './sub-agent-query-deps.ts';
import { createSubAgentGateBounds } from './sub-agent-setup.ts';

type QueryDepsParts = {
  readonly session: Session;
  readonly permissions: SessionPermissions;
  readonly request: RequestParts;
  readonly context: ContextPort;
  readonly createSubAgentContext: CreateSubAgentContext;
  readonly transformRequest: QueryDeps['transformRequest'];
  readonly runOverrides: RunOverrides;
  /** The features of the conversation. */
  readonly features: readonly Feature[];
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
  const { session, permissions, request, runOverrides } = parts;
  const { toolset, prompt, fallbacks, judge } = request;
  const capResult = createResultCap(() => join(session.transcript.folder, 'results'), core.knownKeys.remove);
  const { summarizeCalls } = createSideRequests(core);

  const gate: QueryDepsFactory['gate'] = (port, bounds, features = parts.features) => {
    const approvers = { askHook: composeApprover(features), askJudge: judge.judgeCall };
    return permissions.createGate({ ...port, ...approvers }, bounds);
  };

  /** Creates the dependencies that the conversation and its sub-agents share. */
  function createSharedDeps(port: AgentPort) {
    const { effort: liveEffort, thinkingTokens, model: liveModel } = live.current();
    const effort = runOverrides.effort() ?? liveEffort;
    const override = runOverrides.model() ?? findPlanModel(core);
    const config = {
      chain: fallbacks
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
        transformRequest: parts.transformRequest,
        ...(summarizeCalls === undefined ? {} : { summarizeCalls }),
      });
      return { ...deps, system: () => system, tools: toolset.listOffered };
    },
    subAgent(port, asking) {
      const agentGate = gate(port, createSubAgentGateBounds(core, asking.kind, asking.workspace), asking.features);
      const shared = { ...createSharedDeps(port), gate: agentGate };
      return createSubAgentQueryDeps(core, request, parts.createSubAgentContext, shared, asking);
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
