import { join } from 'node:path';
import type { AgentPort } from '../../agent/parts.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { ContextPort, QueryDeps } from '../../contracts/query.ts';
import { queryDeps } from '../../engine/defaults.ts';
import { askWithHooks } from '../../hooks/ask-with-hooks.ts';
import type { HookFire } from '../../hooks/create-hooks.ts';
import { loopHooks } from '../../hooks/loop-hooks.ts';
import { createToolBatch } from '../../hooks/tool-batch.ts';
import { plannerOf, resolveModel } from '../../model/catalog.ts';
import { thinkingEffort } from '../../model/efforts.ts';
import { subagentPath } from '../../session/paths.ts';
import { createCapResult } from '../../tools/cap-result.ts';
import { requireAnswer } from '../../tools/structured-output/structured-output.ts';
import type { Core } from '../core.ts';
import type { GateBounds } from '../permissions/gate.ts';
import type { Judge } from '../permissions/judge.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { CallWatch, SessionLanguages } from '../session/languages.ts';
import type { Session } from '../session/session.ts';
import { type AgentNeeds, agentDeps, type SubAgentAsking } from './agent-deps.ts';
import { agentBounds } from './agents/agent-words.ts';
import type { Fallbacks } from './fallbacks.ts';
import { hooksOfAgent } from './hooks/carried-hooks.ts';
import { gateWithHooks, type SessionHooks } from './hooks/session-hooks.ts';
import type { Prompt } from './prompt.ts';
import { createSideAsks } from './side-asks.ts';
import type { RunWishes } from './skills/run-wishes.ts';
import type { TurnLog } from './turn-log.ts';

type Needs = AgentNeeds & {
  readonly session: Session;
  readonly permissions: Permissions;
  readonly hooks: SessionHooks;
  readonly context: ContextPort;
  readonly turnLog: TurnLog;
  readonly fallbacks: Fallbacks;
  readonly wishes: RunWishes;
  readonly judge: Judge;
  readonly languages: SessionLanguages;
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
  const { session, permissions, hooks, toolset, prompt, wishes } = needs;
  const capResult = createCapResult(() => join(session.transcript.folder, 'results'));
  const { summarizeCalls } = createSideAsks(core);

  const gate: QueryDepsSource['gate'] = (port, bounds = {}) =>
    gateWithHooks(hooks, port, (asking) => permissions.gate({ ...asking, judge: needs.judge.judge }, bounds));

  /** What holds for the conversation and its sub-agents alike. */
  function shared(port: AgentPort) {
    const { effort: chosen, thinkingTokens, model: first } = live.now();
    const effort = wishes.effort() ?? chosen;
    const wanted = wishes.model() ?? plannerNow(core);
    const config = {
      chain: needs.fallbacks
        .chain(wanted === undefined ? first : resolveModel(wanted))
        .map((name) => ({ model: name })),
      effort: thinkingEffort(effort, thinkingTokens),
      thinkingBudgetTokens: thinkingTokens,
      maxTurns: options.maxTurns,
      maxBudgetUsd: options.maxBudgetUsd,
      tokenBudget: options.tokenBudget,
      autoCompact: settings.now().autoCompact ?? true,
      partialMessages: options.partialMessages,
      betas: options.betas ?? [],
    };
    const { onWait } = port;
    const ask = askWithHooks(hooks, port.ask);
    return { config, modelInfo: model.infoOf, ask, onWait, capResult, costUsd: meter.costUsd, newId: core.newId };
  }

  function hooked(port: AgentPort, watch: CallWatch, fire: HookFire, ...whose: [StopEvent, JsonObject?]) {
    const { beforeCall, afterCall, onStop } = loopHooks(fire, ...whose);
    return { beforeCall: permissions.watched(port, beforeCall), afterCall: watch.hearing(afterCall), onStop };
  }

  return {
    gate,
    conversation(port) {
      const system = prompt.system.parts();
      const { main } = needs.languages;
      const hooksOfQuery = hooked(port, main, hooks, 'Stop');
      const batch = createToolBatch(hooks, hooksOfQuery.afterCall);
      const deps = queryDeps({
        ...shared(port),
        ...hooksOfQuery,
        afterCall: batch.afterCall,
        onStop: requireAnswer(options.jsonSchema, hooksOfQuery.onStop),
        model: session.recorded,
        toolSpecs: toolset.specs,
        cwd: () => live.now().cwd,
        gate: gate(port, { rules: wishes.rules }),
        context: needs.context,
        queues: port.queues,
        attachments: async () => [
          ...(await batch.end()),
          ...(await freshNews(core, prompt, hooks)),
          ...(await main.news()),
        ],
        transformRequest: needs.turnLog.sent,
        ...(summarizeCalls === undefined ? {} : { summarizeCalls }),
      });
      return { ...deps, system: () => system, tools: toolset.offered };
    },
    subAgent(port, asking) {
      const own = gate(port, agentBounds(core, asking.kind, asking.place));
      const fire = asking.isOfHook ? hooks.ofHooks : hooks.with(hooksOfAgent(asking.kind));
      const { agentId, kind } = asking;
      const watch = needs.languages.watch();
      const hooksOfQuery = hooked(port, watch, fire, 'SubagentStop', {
        agent_id: agentId,
        agent_type: kind.name,
        agent_transcript_path: subagentPath(session.transcript.folder, agentId),
      });
      const common = { ...shared(port), ...hooksOfQuery, gate: own, queues: port.queues, attachments: watch.news };
      return agentDeps(core, needs, common, asking);
    },
  };
}

type StopEvent = 'Stop' | 'SubagentStop';

/** `opusplan`: one model plans, another works. Who chose a model since goes on with that. */
function plannerNow({ options, environment, settings, live }: Core): string | undefined {
  const said = options.model ?? environment.model ?? settings.now().model;
  const { mode, model } = live.now();
  return mode === 'plan' && said !== undefined && resolveModel(said) === model ? plannerOf(said) : undefined;
}

/** What the calls of the last reply have written, skills and the like, can be used in the next one. */
async function freshNews({ extensions }: Core, prompt: Prompt, hooks: SessionHooks): Promise<readonly string[]> {
  await hooks.lookAtWatched();
  await extensions.refresh();
  return prompt.collect();
}
