import { readDecisions } from '../../context/decisions.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Tool } from '../../contracts/tool.ts';
import { asJson } from '../../lib/as-json.ts';
import type { Shells } from '../../tools/bash/shells.ts';
import { createKillShellTool } from '../../tools/kill-shell/kill-shell.ts';
import { createLocator } from '../../tools/search/choose-locator.ts';
import { createSendMessageTool } from '../../tools/send-message/send-message.ts';
import { createSkillTool } from '../../tools/skill/skill.ts';
import { createCallOwners } from '../../tools/task/call-owners.ts';
import { createTaskTool } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import type { McpServers } from '../mcp/servers.ts';
import { createJudge } from '../permissions/judge.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { SessionCheckpoints } from '../session/checkpoints.ts';
import type { SessionLanguages } from '../session/languages.ts';
import type { Session } from '../session/session.ts';
import { type ContextWiring, contextOfAgent, makeContext } from './context.ts';
import { createFallbacks } from './fallbacks.ts';
import { createGatedCalls } from './gated-calls.ts';
import type { SessionHooks } from './hooks/session-hooks.ts';
import { createPrompt, type Prompt } from './prompt.ts';
import { createQueryDeps } from './query-deps.ts';
import { createOfferedSkills } from './skills/offered-skills.ts';
import type { RunWishes } from './skills/run-wishes.ts';
import { createSkills, type Skills } from './skills.ts';
import { createSubAgents, type SubAgents } from './sub-agents.ts';
import { createToolset, type Toolset } from './toolset.ts';
import type { TurnLog } from './turn-log.ts';

type Needs = {
  readonly session: Session;
  readonly permissions: Permissions;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly mcp: McpServers;
  readonly hooks: SessionHooks;
  readonly wishes: RunWishes;
  readonly shells: Shells;
  readonly turnLog: TurnLog;
  readonly languages: SessionLanguages;
};

/** What the loop runs on: tools, context, prompt, sub-agents, and from these what each query depends on. */
export type Loop = ReturnType<typeof createLoop>;

export function createLoop(core: Core, needs: Needs) {
  const { session, mcp, hooks, shells, turnLog, wishes } = needs;
  const locator = createLocator(core.environment.variables);
  const owners = createCallOwners();
  const news = createNews(shells, mcp);
  const offeredSkills = createOfferedSkills(core);
  const toolset = createToolset(core, { ...needs, locator, owners });
  const prompt = createPrompt(core, {
    offeredSkills: offeredSkills.now,
    permissions: needs.permissions,
    sentBefore: session.sentBefore,
    tools: () => toolset.offered().map(({ name }) => name),
    mcpInstructions: mcp.hub.instructions,
    takeDiskChanges: toolset.readState.takeDiskChanges,
    backgroundNews: news.take,
  });
  const fallbacks = createFallbacks(core);
  const contextWiring: ContextWiring = {
    live: core.live,
    chain: fallbacks.chain,
    settings: core.settings.now,
    infoOf: core.model.infoOf,
    port: core.model.port,
    system: prompt.system.parts,
    specs: () => toolset.specs(toolset.offered()),
    tools: toolset.offered,
    readState: toolset.readState,
    folder: session.transcript.folder,
    hooks,
    plan: () => core.live.now().plan,
    onUsage: core.meter.add,
    onLevel: turnLog.level,
    tell: (event) => void core.bus.tell(event),
    remember: (decision) =>
      void session.transcript.append({ type: 'system', subtype: 'context', data: asJson(decision) }),
    newId: core.newId,
  };
  const context = makeContext(contextWiring);
  const contextFor = (agent: Parameters<typeof contextOfAgent>[1]) => contextOfAgent(contextWiring, agent);
  const { written } = needs.permissions;
  const judge = createJudge(core, { earlier: session.opened.messages, system: prompt.system.parts, written });
  const parts = { toolset, owners, prompt, context, contextFor, fallbacks, judge };
  const deps = createQueryDeps(core, { ...needs, ...parts });
  const subAgents = createSubAgents(core, { ...needs, owners, deps, learn: fallbacks.learn, addNews: news.add });
  hooks.answerWith(subAgents.answerHook);
  const gatedCalls = createGatedCalls(core, { deps, toolset });
  const sessionId = session.opened.id;
  const skills = createSkills(core, { sessionId, gatedCalls, wishes, run: subAgents.run });
  toolset.add(toolsOnTop(subAgents, skills, shells));
  const heardClearing = createClearings(toolset, turnLog);
  resumeParts(core, session, { toolset, prompt, context, news });
  return {
    toolset,
    prompt,
    context,
    deps,
    subAgents,
    locator,
    gatedCalls,
    skills,
    wishes,
    addNews: news.add,
    hasNews: news.isWaiting,
    learn: fallbacks.learn,
    ready: async () => {
      const models = fallbacks.chain(core.live.now().model);
      await Promise.all([prompt.ready(), mcp.ready(), fallbacks.learn(models)]);
    },
    /** What events mean for the parts. */
    hear(event: AgentEvent): void {
      heardClearing(event);
      turnLog.hear(event);
      judge.hear(event);
      fallbacks.hear(event);
      prompt.listen(event);
      offeredSkills.hear(event);
      if (event.type === 'agent_end') wishes.end();
    },
  };
}

/** Tools that can only be made once there are others. */
function toolsOnTop(subAgents: SubAgents, skills: Skills, shells: Shells): readonly Tool[] {
  return [
    createTaskTool(subAgents),
    createSendMessageTool(subAgents),
    createSkillTool(skills),
    createKillShellTool(shells, subAgents.stop),
  ];
}

/** What happened in the background, for the model's next turn. */
function createNews(shells: Pick<Shells, 'hasNotices' | 'takeNotices'>, mcp: Pick<McpServers, 'takeNews'>) {
  let waiting: string[] = [];
  return {
    add: (words: string) => void waiting.push(words),
    isWaiting: () => waiting.length > 0 || shells.hasNotices(),
    take(): readonly string[] {
      const taken = [...shells.takeNotices(), ...mcp.takeNews(), ...waiting];
      waiting = [];
      return taken;
    },
  };
}

/** Results that the provider leaves out are gone for the model: a repeated read must show them again. */
function createClearings({ readState }: Pick<Toolset, 'readState'>, turnLog: Pick<TurnLog, 'level'>) {
  let before = { results: 0, tokens: 0 };
  return (event: AgentEvent): void => {
    if (event.type === 'compacted') before = { results: 0, tokens: 0 };
    const cleared = event.type === 'turn_end' ? event.usage?.cleared : undefined;
    if (cleared === undefined || cleared.results <= before.results) return;
    const blocks = cleared.results - before.results;
    turnLog.level({ level: 'provider', blocks, freedTokens: cleared.tokens - before.tokens });
    readState.forgetShown();
    before = cleared;
  };
}

type Resumed = {
  readonly toolset: Toolset;
  readonly prompt: Pick<Prompt, 'known'>;
  readonly context: Pick<ReturnType<typeof makeContext>, 'restore'>;
  readonly news: Pick<ReturnType<typeof createNews>, 'add'>;
};

/** Takes up what an earlier run left, and has it kept for the next one. */
function resumeParts(
  { meter }: Core,
  { opened, alsoKeep }: Session,
  { toolset, prompt, context, news }: Resumed,
): void {
  context.restore(readDecisions(opened.stored.context));
  if (opened.stored.files !== undefined) toolset.readState.restore(opened.stored.files);
  for (const words of opened.news) news.add(words);
  meter.resume(opened.messages);
  const earlierUsd = opened.stored.spentUsd ?? 0;
  alsoKeep(() => {
    const spentUsd = earlierUsd + meter.costUsd();
    return { files: toolset.readState.snapshot(), ...prompt.known(), ...(spentUsd > 0 ? { spentUsd } : {}) };
  });
}
