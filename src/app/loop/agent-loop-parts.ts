import { parseReductions } from '../../context/reduction-log.ts';
import type { TurnLog } from '../../context/report/turn-log.ts';
import type { Tool } from '../../contracts/tool.ts';
import type { PluginMonitors } from '../../hooks/plugin-monitors.ts';
import type { RunOverrides } from '../../hooks/run-overrides.ts';
import type { IdeIntegration } from '../../ide/ide-integration.ts';
import { copyAsJson } from '../../lib/json.ts';
import type { ProgramCheck } from '../../lib/processes/program-check.ts';
import type { SessionLanguageServers } from '../../lsp/session-language-servers.ts';
import type { McpServers } from '../../mcp/session-servers.ts';
import { createModelFallbacks } from '../../model/model-fallbacks.ts';
import { createAutoModeJudge } from '../../permissions/auto-mode-judge.ts';
import type { CurrentSessionState } from '../../prompt/current-session-state.ts';
import { createOfferedSkills } from '../../prompt/offered-skills.ts';
import { createSessionSystemPrompt } from '../../prompt/session-system-prompt.ts';
import { getPromptPartText } from '../../prompt/system-prompt-state.ts';
import type { Session } from '../../session/session.ts';
import type { SessionCheckpoints } from '../../session/session-checkpoints.ts';
import { createKillShellTool } from '../../tools/bash/kill-shell.ts';
import type { ShellRegistry } from '../../tools/bash/shell-registry.ts';
import { createSearchBackend, excludeHungMountsFromSearch } from '../../tools/search/create-search-backend.ts';
import { createSendMessageTool } from '../../tools/send-message.ts';
import { createSkillTool } from '../../tools/skill.ts';
import { createSubAgentCallRegistry } from '../../tools/task/sub-agent-call-registry.ts';
import { createTaskTool } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import { createInstructionReadGate } from '../permissions/instruction-read-gate.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import { MANAGED_SETTINGS_DIR } from '../read-settings.ts';
import type { SessionHooks } from '../session-hooks.ts';
import { type ContextPipelineDeps, createContextPipeline, createSubAgentContextPipeline } from './context-pipeline.ts';
import { createDirectToolCalls } from './direct-tool-calls.ts';
import { createFeatureLists } from './list-features.ts';
import { createQueryDepsFactory } from './query-deps-factory.ts';
import { createSkillRunner, type SkillRunner } from './skill-runner.ts';
import { createSubAgentManager, type SubAgentManager } from './sub-agent-manager.ts';
import { createToolset } from './toolset.ts';

type LoopDeps = {
  readonly session: Session;
  readonly permissions: SessionPermissions;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly mcp: McpServers;
  readonly hooks: SessionHooks;
  readonly runOverrides: RunOverrides;
  readonly shells: ShellRegistry;
  readonly turnLog: TurnLog;
  readonly languages: SessionLanguageServers;
  readonly editor: IdeIntegration;
  readonly checkProgram: ProgramCheck;
  readonly monitors: PluginMonitors;
};

/** The parts of the loop: tools, context, prompt, sub-agents, and the query dependencies made from them. */
export type AgentLoopParts = ReturnType<typeof createAgentLoopParts>;

export function createAgentLoopParts(core: Core, deps: LoopDeps) {
  const { session, mcp, hooks, shells, turnLog, runOverrides } = deps;
  const locator = excludeHungMountsFromSearch(createSearchBackend(core.environment.variables), core.mounts);
  const owners = createSubAgentCallRegistry();
  const offeredSkills = createOfferedSkills(core, () => core.extensions.current().skills);
  const toolset = createToolset(core, { ...deps, locator, owners });
  const prompt = createSessionSystemPrompt(core, {
    offeredSkills: offeredSkills.list,
    permissions: deps.permissions,
    managedDir: MANAGED_SETTINGS_DIR,
    mayRead: createInstructionReadGate(core, deps.permissions),
    sentBefore: session.sentBefore,
    tools: toolset.listOfferedNames,
    mcpInstructions: mcp.hub.listInstructions,
  });
  const fallbacks = createModelFallbacks(core, core.model);
  const contextWiring: ContextPipelineDeps = {
    live: core.live,
    model: () => core.live.current().model,
    chain: fallbacks.getChain,
    settings: core.settings.current,
    getModelInfo: core.model.infoOf,
    port: core.model.port,
    system: prompt.system.parts,
    listSpecs: () => toolset.getSpecs(toolset.listOffered()),
    tools: toolset.listOffered,
    readState: toolset.readState,
    folder: session.transcript.folder,
    hooks,
    plan: () => core.live.current().plan,
    getState: () => ({
      ...core.live.current(),
      branch: prompt.getBranch(),
      planInstructions: core.options.planInstructions,
      background: [...listRunningShells(shells), ...subAgents.listRunning()],
    }),
    onUsage: core.meter.addReply,
    onLevel: turnLog.recordLevel,
    emit: (event) => void core.bus.emit(event),
    remember: (decision) =>
      void session.transcript.append({ type: 'system', subtype: 'context', data: copyAsJson(decision) }),
    newId: core.newId,
  };
  const context = createContextPipeline(contextWiring);
  context.restore(parseReductions(session.opened.stored.context));
  const contextFor = (agent: Parameters<typeof createSubAgentContextPipeline>[1]) =>
    createSubAgentContextPipeline(contextWiring, agent);
  const { listWrittenFiles } = deps.permissions;
  const judge = createAutoModeJudge(core, {
    earlierMessages: session.opened.messages,
    getInstructions: () => getPromptPartText(prompt.system.parts(), 'memory'),
    listWrittenFiles,
  });
  const features = createFeatureLists(core, {
    ...deps,
    prompt,
    judge,
    fallbacks,
    offeredSkills,
    readState: toolset.readState,
  });
  const parts = { features, toolset, owners, prompt, context, contextFor, fallbacks, judge };
  const queryDeps = createQueryDepsFactory(core, { ...deps, ...parts });
  const subAgents = createSubAgentManager(core, {
    ...deps,
    owners,
    deps: queryDeps,
    features,
    learn: fallbacks.lookUpModels,
  });
  hooks.setAgentRunner(subAgents.answerHook);
  const directCalls = createDirectToolCalls(core, { deps: queryDeps, toolset });
  const sessionId = session.opened.id;
  const onInvoke = deps.monitors.startForSkill;
  const skills = createSkillRunner(core, { sessionId, directCalls, runOverrides, run: subAgents.runAgent, onInvoke });
  toolset.add(createDependentTools(subAgents, skills, shells));
  return {
    features: features.conversation,
    toolset,
    prompt,
    context,
    queryDeps,
    subAgents,
    locator,
    directCalls,
    skills,
    lookUpModels: fallbacks.lookUpModels,
    ready: async () => {
      const models = fallbacks.getChain(core.live.current().model);
      await Promise.all([prompt.ready(), mcp.whenReady(), fallbacks.lookUpModels(models)]);
    },
  };
}

function listRunningShells(shells: ShellRegistry): CurrentSessionState['background'] {
  return shells.list().flatMap(({ id, command, exit }) => (exit === undefined ? [{ id, title: command }] : []));
}

/** Creates the tools that depend on other tools. */
function createDependentTools(subAgents: SubAgentManager, skills: SkillRunner, shells: ShellRegistry): readonly Tool[] {
  return [
    createTaskTool(subAgents),
    createSendMessageTool(subAgents),
    createSkillTool(skills),
    createKillShellTool(shells, subAgents.stop),
  ];
}
