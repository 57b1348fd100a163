import { join } from 'node:path';
import type { AgentPort } from '../../agent/agent-deps.ts';
import type { SubAgentDefinition } from '../../contracts/extension.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { type ContextPort, DEFAULT_LOOP_GUARD, type QueryDeps } from '../../contracts/query.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { Tool, ToolOutcome } from '../../contracts/tool.ts';
import { completeQueryDeps, type QueryDepsInput } from '../../engine/default-deps.ts';
import { selectAgentTools } from '../../extensions/apply-agent.ts';
import type { HookDispatcher } from '../../hooks/create-hooks.ts';
import { collectAgentHooks } from '../../hooks/hook-sources.ts';
import { createLoopHooks, createToolBatchHooks, wrapElicitationWithHooks } from '../../hooks/loop-hooks.ts';
import { getPlanModeModel, resolveModel } from '../../model/built-in-models.ts';
import { deriveEffortFromThinkingBudget } from '../../model/efforts.ts';
import { SUB_AGENT_PROMPT } from '../../prompt/system-prompt.ts';
import { getSubAgentPath } from '../../session/paths.ts';
import { bashTraits } from '../../tools/bash/bash.ts';
import { createResultCap } from '../../tools/cap-result.ts';
import { editTraits } from '../../tools/edit/edit.ts';
import { formatDiskChanges } from '../../tools/files/disk-changes.ts';
import { createFileReadState, type FileReadState } from '../../tools/files/file-read-state.ts';
import { readTraits } from '../../tools/read/read.ts';
import { requireStructuredAnswer } from '../../tools/structured-output.ts';
import type { SubAgentCallRegistry } from '../../tools/task/sub-agent-call-registry.ts';
import { toolSearchTraits } from '../../tools/tool-search.ts';
import { findBuiltInToolTraits } from '../../tools/tool-traits.ts';
import { writeTraits } from '../../tools/write.ts';
import type { ChangedFilesFormatter } from '../changed-files-formatter.ts';
import type { Core } from '../core.ts';
import type { IdeIntegration } from '../ide-integration.ts';
import type { AutoModeJudge } from '../permissions/auto-mode-judge.ts';
import type { PermissionGateOverrides } from '../permissions/query-permission-gate.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import type { Session } from '../session/session.ts';
import { type SessionHooks, wrapGateWithHooks } from '../session-hooks.ts';
import type { AgentFileDiagnostics, SessionLanguageServers } from '../session-language-servers.ts';
import type { SubAgentRequestParts } from './context-pipeline.ts';
import type { ModelFallbacks } from './model-fallbacks.ts';
import type { RunOverrides } from './run-overrides.ts';
import type { SessionSystemPrompt } from './session-system-prompt.ts';
import { createSideRequests } from './side-requests.ts';
import { createSubAgentGateBounds, type SubAgentWorkspace } from './sub-agent-setup.ts';
import type { Toolset } from './toolset.ts';
import type { TurnLog } from './turn-log.ts';

type QueryDepsParts = SubAgentQueryDeps & {
  readonly session: Session;
  readonly permissions: SessionPermissions;
  readonly hooks: SessionHooks;
  readonly context: ContextPort;
  readonly turnLog: TurnLog;
  readonly fallbacks: ModelFallbacks;
  readonly runOverrides: RunOverrides;
  readonly judge: AutoModeJudge;
  readonly languages: SessionLanguageServers;
  readonly format: ChangedFilesFormatter;
  readonly editor: Pick<IdeIntegration, 'wrapBeforeCall'>;
};

/** Creates the dependencies of each query, as a snapshot at its start. */
export type QueryDepsFactory = {
  conversation(port: AgentPort): QueryDeps;
  /** Creates the dependencies of a sub-agent's query, with at most the permissions of its parent. */
  subAgent(port: AgentPort, asking: QueryingSubAgent): QueryDeps;
  /** Creates a permission gate, optionally with the bounds of a sub-agent. */
  gate(port: AgentPort, bounds?: PermissionGateOverrides): QueryDeps['gate'];
};

/** Creates the source of query dependencies. */
export function createQueryDepsFactory(core: Core, parts: QueryDepsParts): QueryDepsFactory {
  const { options, live, model, settings, meter } = core;
  const { session, permissions, hooks, toolset, prompt, runOverrides, format } = parts;
  const capResult = createResultCap(() => join(session.transcript.folder, 'results'));
  const { summarizeCalls } = createSideRequests(core);

  const gate: QueryDepsFactory['gate'] = (port, bounds = {}) =>
    wrapGateWithHooks(hooks, port, (asking) =>
      permissions.createGate({ ...asking, askJudge: parts.judge.judgeCall }, bounds),
    );

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
    const { onWait } = port;
    const ask = wrapElicitationWithHooks(hooks, port.ask);
    return { config, modelInfo: model.infoOf, ask, onWait, capResult, costUsd: meter.getCostUsd, newId: core.newId };
  }

  function createHookCallbacks(
    port: AgentPort,
    watch: AgentFileDiagnostics,
    firing: HookDispatcher,
    ...stopHook: [StopEvent, JsonObject?]
  ) {
    const { beforeCall, afterCall, onStop } = createLoopHooks(firing, ...stopHook);
    return {
      beforeCall: watch.wrapBeforeCall(parts.editor.wrapBeforeCall(permissions.recordHookDenials(port, beforeCall))),
      afterCall: format.wrapAfterCall(watch.wrapAfterCall(afterCall)),
      onStop,
    };
  }

  return {
    gate,
    conversation(port) {
      const system = prompt.system.parts();
      const { mainDiagnostics } = parts.languages;
      const hookCallbacks = createHookCallbacks(port, mainDiagnostics, hooks, 'Stop');
      const batch = createToolBatchHooks(hooks, reportShellChanges(toolset.readState, hookCallbacks.afterCall));
      const deps = completeQueryDeps({
        ...createSharedDeps(port),
        ...hookCallbacks,
        afterCall: batch.afterCall,
        onStop: format.wrapOnStop(requireStructuredAnswer(options.jsonSchema, hookCallbacks.onStop)),
        model: session.recordedPort,
        toolSpecs: toolset.getSpecs,
        cwd: () => live.current().cwd,
        gate: gate(port, { getRules: runOverrides.rules }),
        context: parts.context,
        queues: port.queues,
        attachments: async () => [
          ...(await batch.end()),
          ...(await collectFreshNews(core, prompt, hooks)),
          ...(await mainDiagnostics.takeNewDiagnostics()),
        ],
        transformRequest: parts.turnLog.recordRequest,
        ...(summarizeCalls === undefined ? {} : { summarizeCalls }),
      });
      return { ...deps, system: () => system, tools: toolset.listOffered };
    },
    subAgent(port, asking) {
      const agentGate = gate(port, createSubAgentGateBounds(core, asking.kind, asking.workspace));
      const agentHooks = asking.isForHook ? hooks.withoutAgentHooks : hooks.withHooks(collectAgentHooks(asking.kind));
      const { agentId, kind } = asking;
      const watch = parts.languages.createDiagnostics();
      const hookCallbacks = createHookCallbacks(port, watch, agentHooks, 'SubagentStop', {
        agent_id: agentId,
        agent_type: kind.name,
        agent_transcript_path: getSubAgentPath(session.transcript.folder, agentId),
      });
      const shared = {
        ...createSharedDeps(port),
        ...hookCallbacks,
        gate: agentGate,
        queues: port.queues,
        attachments: watch.takeNewDiagnostics,
      };
      return createSubAgentDeps(core, parts, shared, asking);
    },
  };
}

function getLoopGuard({ loopGuard: { enabled = true, ...limits } = {} }: Settings): QueryDeps['config']['loopGuard'] {
  return enabled ? { ...DEFAULT_LOOP_GUARD, ...limits } : undefined;
}

/** Adds the known files that a shell command changed to its result; the model need not read them again. */
function reportShellChanges(readState: FileReadState, afterCall: QueryDeps['afterCall']): QueryDeps['afterCall'] {
  return async (request, outcome, durationMs, signal) => {
    const changes = request.tool === bashTraits.name ? await readState.adoptDiskChanges() : [];
    if (changes.length === 0) return afterCall(request, outcome, durationMs, signal);
    const { content } = outcome;
    const note = formatDiskChanges(changes, request.cwd);
    const noted: ToolOutcome = {
      ...outcome,
      content: typeof content === 'string' ? `${content}\n${note}`.trim() : [...content, { type: 'text', text: note }],
    };
    return { outcome: noted, ...(await afterCall(request, noted, durationMs, signal)) };
  };
}

type StopEvent = 'Stop' | 'SubagentStop';

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

/** Reloads extensions and watched files that the last calls may have changed, and collects the news. */
async function collectFreshNews(
  { extensions }: Core,
  prompt: SessionSystemPrompt,
  hooks: SessionHooks,
): Promise<readonly string[]> {
  await hooks.checkWatchedFiles();
  await extensions.refresh();
  return prompt.collectNews();
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
  /** A hook started it, so hooks that start sub-agents do not run for it. */
  readonly isForHook: boolean;
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
    model: requestedModel = kind.model ?? 'inherit',
  }: QueryingSubAgent,
): QueryDeps {
  const ownModel = requestedModel === 'inherit' ? [] : [{ model: resolveModel(requestedModel) }];
  const chain = [...ownModel, ...config.chain];
  const readState = createFileReadState();
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
  const { afterCall } = shared;
  const deps = completeQueryDeps({
    ...shared,
    ...(afterCall && { afterCall: reportShellChanges(readState, afterCall) }),
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
