import type { AgentContext } from '../../agent/agent-context.ts';
import { parseReductions } from '../../context/reduction-log.ts';
import type { TurnLog } from '../../context/report/turn-log.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { Tool } from '../../contracts/tool.ts';
import type { PluginMonitors } from '../../hooks/plugin-monitors.ts';
import type { RunOverrides } from '../../hooks/run-overrides.ts';
import { copyAsJson } from '../../lib/json.ts';
import type { McpServers } from '../../mcp/session-servers.ts';
import type { Session } from '../../session/session.ts';
import { createKillShellTool } from '../../tools/bash/kill-shell.ts';
import type { ShellRegistry } from '../../tools/bash/shell-registry.ts';
import { createSendMessageTool } from '../../tools/send-message.ts';
import { createSkillTool } from '../../tools/skill.ts';
import { createTaskTool } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import type { SessionHooks } from '../session-hooks.ts';
import { type ContextPipelineDeps, createContextPipeline } from './context-pipeline.ts';
import { createDirectToolCalls, type DirectToolCalls } from './direct-tool-calls.ts';
import { createQueryDepsFactory, type QueryDepsFactory } from './query-deps-factory.ts';
import type { RequestParts } from './request-parts.ts';
import { createSkillRunner, type SkillRunner } from './skill-runner.ts';
import { createSubAgentManager, type SubAgentManager } from './sub-agent-manager.ts';
import type { ListSubAgentFeatures } from './sub-agent-runs.ts';

type LoopDeps = {
  readonly session: Session;
  readonly permissions: SessionPermissions;
  readonly mcp: McpServers;
  readonly hooks: SessionHooks;
  readonly runOverrides: RunOverrides;
  readonly shells: ShellRegistry;
  readonly turnLog: TurnLog;
  readonly monitors: PluginMonitors;
  readonly request: RequestParts;
  /** The features of the conversation. */
  readonly features: readonly Feature[];
  readonly listSubAgentFeatures: ListSubAgentFeatures;
};

/** The parts of the loop: what requests are made from, context, query dependencies, sub-agents, commands and skills. */
export type AgentLoopParts = RequestParts & {
  readonly context: AgentContext;
  readonly queryDeps: QueryDepsFactory;
  readonly subAgents: SubAgentManager;
  readonly directCalls: DirectToolCalls;
  readonly skills: SkillRunner;
  /** Resolves when all that the next request needs is known. */
  ready(): Promise<void>;
};

/** Creates the parts of the loop, for the conversation and its sub-agents. */
export function createAgentLoopParts(core: Core, deps: LoopDeps): AgentLoopParts {
  const { session, mcp, hooks, shells, turnLog, runOverrides, request } = deps;
  const { toolset, prompt, fallbacks } = request;
  const contextDeps: ContextPipelineDeps = { chain: fallbacks.getChain, hooks, folder: session.transcript.folder };
  const context = createContextPipeline(
    core,
    contextDeps,
    {
      model: () => core.live.current().model,
      system: prompt.system.parts,
      tools: toolset.listOffered,
      listSpecs: () => toolset.getSpecs(toolset.listOffered()),
      readState: toolset.readState,
    },
    {
      onLevel: turnLog.recordLevel,
      emit: (event) => void core.bus.emit(event),
      remember: (decision) =>
        void session.transcript.append({ type: 'system', subtype: 'context', data: copyAsJson(decision) }),
      getState: () => ({
        ...core.live.current(),
        branch: prompt.getBranch(),
        planInstructions: core.options.planInstructions,
        background: [...listRunningShells(shells), ...subAgents.listRunning()],
      }),
    },
  );
  context.restore(parseReductions(session.opened.stored.context));
  const queryDeps = createQueryDepsFactory(core, {
    ...deps,
    context,
    createSubAgentContext: (requests) => createContextPipeline(core, contextDeps, requests),
    transformRequest: turnLog.recordRequest,
  });
  const subAgents = createSubAgentManager(core, {
    ...deps,
    owners: request.owners,
    deps: queryDeps,
    learn: fallbacks.lookUpModels,
  });
  hooks.setAgentRunner(subAgents.answerHook);
  const directCalls = createDirectToolCalls(core, { deps: queryDeps, toolset });
  const sessionId = session.opened.id;
  const onInvoke = deps.monitors.startForSkill;
  const skills = createSkillRunner(core, { sessionId, directCalls, runOverrides, run: subAgents.runAgent, onInvoke });
  toolset.add(createDependentTools(subAgents, skills, shells));
  return {
    ...request,
    context,
    queryDeps,
    subAgents,
    directCalls,
    skills,
    ready: async () => {
      const models = fallbacks.getChain(core.live.current().model);
      await Promise.all([prompt.ready(), mcp.whenReady(), fallbacks.lookUpModels(models)]);
    },
  };
}

/** Lists the background commands that run, by their command lines. */
function listRunningShells(shells: ShellRegistry): readonly { readonly id: string; readonly title: string }[] {
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
