import { join } from 'node:path';
import type { AgentPort } from '../../agent/parts.ts';
import type { AgentKind } from '../../contracts/extension.ts';
import type { ContextPort, QueryDeps } from '../../contracts/query.ts';
import { queryDeps } from '../../engine/defaults.ts';
import { toolsOfAgent } from '../../extensions/tools-of-agent.ts';
import type { Hooks } from '../../hooks/create-hooks.ts';
import { loopHooks } from '../../hooks/loop-hooks.ts';
import { resolveModel } from '../../model/catalog.ts';
import { thinkingEffort } from '../../model/efforts.ts';
import { createCapResult } from '../../tools/cap-result.ts';
import { createReadState } from '../../tools/read-state.ts';
import { toolNamed } from '../../tools/statements.ts';
import { requireAnswer } from '../../tools/structured-output/structured-output.ts';
import type { CallOwners } from '../../tools/task/call-owners.ts';
import { toolSearchStatement } from '../../tools/tool-search/tool-search.ts';
import type { Core } from '../core.ts';
import type { GateBounds } from '../permissions/gate.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { Session } from '../session/session.ts';
import type { AgentContext } from './context.ts';
import type { Fallbacks } from './fallbacks.ts';
import type { Prompt } from './prompt.ts';
import { gateWithHooks } from './session-hooks.ts';
import { createSideAsks } from './side-asks.ts';
import type { Toolset } from './toolset.ts';
import type { TurnLog } from './turn-log.ts';

type Needs = {
  readonly session: Session;
  readonly permissions: Permissions;
  readonly hooks: Hooks;
  readonly toolset: Toolset;
  readonly owners: CallOwners;
  readonly prompt: Prompt;
  readonly context: ContextPort;
  readonly contextFor: (agent: AgentContext) => ContextPort;
  readonly turnLog: TurnLog;
  readonly fallbacks: Fallbacks;
};

/** Which sub-agent asks, and the model it was wanted with. */
export type SubAgentAsking = {
  readonly kind: AgentKind;
  readonly agentId: string;
  readonly model: string | undefined;
};

/** Makes the dependencies of each query: a snapshot of what holds when it begins. */
export type QueryDepsSource = {
  conversation(port: AgentPort): QueryDeps;
  /** A sub-agent never may more than its parent. */
  subAgent(port: AgentPort, asking: SubAgentAsking): QueryDeps;
  gate(port: AgentPort, bounds?: GateBounds): QueryDeps['gate'];
};

export function createQueryDeps(core: Core, needs: Needs): QueryDepsSource {
  const { options, live, model, settings, meter } = core;
  const { session, permissions, hooks, toolset, owners, prompt } = needs;
  const capResult = createCapResult(() => join(session.transcript.folder, 'results'));
  const { summarizeCalls } = createSideAsks(core);

  const gate: QueryDepsSource['gate'] = (port, bounds = {}) =>
    gateWithHooks(hooks, port, (asking) => permissions.gate(asking, bounds));

  /** What holds for the conversation and its sub-agents alike. */
  function shared(port: AgentPort) {
    const { effort, thinkingTokens } = live.now();
    const config = {
      chain: needs.fallbacks.chain(live.now().model).map((name) => ({ model: name })),
      effort: thinkingEffort(effort, thinkingTokens),
      thinkingBudgetTokens: thinkingTokens,
      maxTurns: options.maxTurns,
      maxBudgetUsd: options.maxBudgetUsd,
      tokenBudget: options.tokenBudget,
      autoCompact: settings.now().autoCompact ?? true,
      partialMessages: options.partialMessages,
      betas: options.betas ?? [],
    };
    const { ask, onWait } = port;
    return { config, modelInfo: model.infoOf, ask, onWait, capResult, costUsd: meter.costUsd, newId: core.newId };
  }

  function hooked(port: AgentPort, stop: 'Stop' | 'SubagentStop', agentType?: string) {
    const { beforeCall, afterCall, onStop } = loopHooks(hooks, stop, agentType);
    return { beforeCall: permissions.watched(port, beforeCall), afterCall, onStop };
  }

  return {
    gate,
    conversation(port) {
      const system = prompt.system.parts();
      const hooksOfQuery = hooked(port, 'Stop');
      const deps = queryDeps({
        ...shared(port),
        ...hooksOfQuery,
        onStop: requireAnswer(options.jsonSchema, hooksOfQuery.onStop),
        model: session.recorded,
        toolSpecs: toolset.specs,
        cwd: () => live.now().cwd,
        gate: gate(port),
        context: needs.context,
        queues: port.queues,
        attachments: () => freshNews(core, prompt),
        transformRequest: needs.turnLog.sent,
        ...(summarizeCalls === undefined ? {} : { summarizeCalls }),
      });
      return { ...deps, system: () => system, tools: toolset.offered };
    },
    subAgent(port, { kind, agentId, model: wanted = kind.model ?? 'inherit' }) {
      const { config, ...rest } = shared(port);
      const chain = [...(wanted === 'inherit' ? [] : [{ model: resolveModel(wanted) }]), ...config.chain];
      const reads = createReadState();
      const tools = toolsOfAgent(kind, toolset.forAgent(reads), { depth: owners.depthOf(agentId), toolNamed });
      const system = [{ name: 'agent', text: kind.prompt }, ...prompt.place()];
      const own = gate(port, kind.permissionMode === undefined ? {} : { mode: kind.permissionMode });
      const deps = queryDeps({
        ...rest,
        ...hooked(port, 'SubagentStop', kind.name),
        config: { ...config, maxTurns: kind.maxTurns, tokenBudget: undefined, chain, skipFirstPoll: true },
        model: model.port,
        // Who cannot search for tools is sent all it may use.
        toolSpecs: tools.some(({ name }) => name === toolSearchStatement.name)
          ? toolset.specs
          : (offered) => offered.map(({ spec }) => spec),
        cwd: () => owners.cwdOf(agentId) ?? live.now().cwd,
        gate(request, hint, signal) {
          owners.claim(request.callId, agentId);
          return own({ ...request, agentId }, hint, signal);
        },
        context: needs.contextFor({ model: chain[0]?.model ?? '', system, tools, reads }),
      });
      return { ...deps, system: () => system, tools: () => tools };
    },
  };
}

/** What the calls of the last reply have written, skills and the like, can be used in the next one. */
async function freshNews({ extensions }: Core, prompt: Prompt): Promise<readonly string[]> {
  await extensions.refresh();
  return prompt.collect();
}
