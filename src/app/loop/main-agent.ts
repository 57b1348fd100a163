import { composeAgent } from '../../agent/compose-agent.ts';
import type { TurnLog } from '../../context/report/turn-log.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { IdeIntegration } from '../../ide/ide-integration.ts';
import type { McpServers } from '../../mcp/session-servers.ts';
import type { Session } from '../../session/session.ts';
import { createSettingsChangeHandler } from '../../settings/settings-change-handler.ts';
import type { Core } from '../core.ts';
import type { AgentLoopParts } from './agent-loop-parts.ts';

type MainAgentDeps = {
  readonly session: Session;
  readonly mcp: McpServers;
  readonly loop: AgentLoopParts;
  readonly features: readonly Feature[];
  readonly turnLog: TurnLog;
  readonly editor: IdeIntegration;
  /** Resolves when all processes of earlier runs have ended. */
  readonly ready: Promise<unknown>;
};

/** Creates the agent of the conversation. An event is on disk before other listeners get it. */
export function createMainAgent(core: Core, deps: MainAgentDeps): Agent {
  const { session, loop, features } = deps;
  const { opened } = session;
  for (const { save } of features) if (save !== undefined) session.addSavedState(save);
  const debugLog = session.debugLog === undefined ? [] : [{ name: 'debug log', onEvent: session.debugLog }];
  const agent = composeAgent([createPreparation(core, deps), ...features, ...debugLog], {
    sessionId: opened.id,
    messages: opened.messages,
    queued: opened.stored.queued,
    listeners: [session.record],
    attach: core.bus.attach,
    deps: loop.queryDeps.conversation,
    describe: () => {
      const { model, effort, mode, cwd } = core.live.current();
      return { model, effort, mode, cwd };
    },
    newId: core.newId,
    now: core.now,
  });
  return { ...agent, subscribe: (listener) => core.bus.subscribe(agent.subscribe, listener) };
}

/** Creates the feature that reloads changed files at a prompt, and waits for what the request needs. */
function createPreparation(core: Core, { mcp, loop, turnLog, editor, ready }: MainAgentDeps): Feature {
  const { settings, bus } = core;
  const followSettings = createSettingsChangeHandler(core, turnLog);
  return {
    name: 'preparation',
    async onPrompt() {
      bus.dropNotices();
      await settings.refresh();
      followSettings();
      await mcp.refresh();
      await Promise.all([loop.ready(), ready, editor.waitUntilReady()]);
      return { kind: 'go' };
    },
  };
}
