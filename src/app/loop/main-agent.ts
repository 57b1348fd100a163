import { assembleAgent } from '../../agent/agent.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { PromptVerdict } from '../../contracts/hook.ts';
import type { UserOrigin } from '../../contracts/message.ts';
import { createLoopHooks } from '../../hooks/loop-hooks.ts';
import { createConfigChangeHookCheck } from '../../hooks/session-change-hooks.ts';
import type { Core } from '../core.ts';
import type { IdeIntegration } from '../ide-integration.ts';
import type { McpServers } from '../mcp/servers.ts';
import type { SessionCheckpoints } from '../session/checkpoints.ts';
import type { Session } from '../session/session.ts';
import { createHookEventListener, type SessionHooks } from '../session-hooks.ts';
import type { SessionLanguageServers } from '../session-language-servers.ts';
import { createSettingsChangeHandler } from '../settings/settings-change-handler.ts';
import type { AgentLoopParts } from './agent-loop-parts.ts';
import type { TurnLog } from './turn-log.ts';

type MainAgentDeps = {
  readonly session: Session;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly mcp: McpServers;
  readonly hooks: SessionHooks;
  readonly loop: AgentLoopParts;
  readonly turnLog: Pick<TurnLog, 'expectChange'>;
  readonly languages: Pick<SessionLanguageServers, 'mainDiagnostics'>;
  readonly editor: Pick<IdeIntegration, 'takeContext' | 'waitUntilReady'>;
  /** Resolves when all processes of earlier runs have ended. */
  readonly ready: Promise<unknown>;
};

/** Creates the agent of the conversation. An event is on disk before other listeners get it. */
export function createMainAgent(core: Core, deps: MainAgentDeps): Agent {
  const { session, checkpoints, hooks, loop } = deps;
  const { opened } = session;
  const warn = (text: string) => void core.bus.emit({ type: 'notice', level: 'warn', topic: 'hook', text });
  const agent = assembleAgent({
    sessionId: opened.id,
    messages: opened.messages,
    queued: opened.stored.queued,
    listeners: [
      session.record,
      ...(checkpoints === undefined ? [] : [checkpoints.onEvent]),
      core.meter.countEvent,
      loop.onEvent,
      createHookEventListener(hooks, loop.addNews, { face: core.options.frontend, warn: warn }),
      ...(session.debugLog === undefined ? [] : [session.debugLog]),
    ],
    attach: core.bus.attach,
    onPrompt: createPromptHook(core, deps),
    deps: loop.queryDeps.conversation,
    describe: () => {
      const { model, effort, mode, cwd } = core.live.current();
      return { model, effort, mode, cwd };
    },
    newId: core.newId,
    now: core.now,
  });
  hooks.onAsyncResult(({ text, delivery, title }) => {
    loop.addNews(text);
    if (delivery === 'next turn') return;
    const event = {
      type: 'background',
      id: `hook_${core.newId().slice(0, 8)}`,
      callId: '',
      kind: 'shell',
      title,
    } as const;
    void core.bus.emit({ ...event, state: 'started' });
    void core.bus.emit({ ...event, state: 'completed', words: text });
  });
  return { ...agent, subscribe: (listener) => core.bus.subscribe(agent.subscribe, listener) };
}

const ADMIT: PromptVerdict = { kind: 'go' };

/** Creates the prompt hook: it reloads changed files, waits for what the request needs, and runs hooks. */
function createPromptHook(core: Core, { mcp, loop, hooks, turnLog, languages, editor, ready }: MainAgentDeps) {
  const { settings, bus } = core;
  const followSettings = createSettingsChangeHandler(core, turnLog);
  const { onPrompt } = createLoopHooks(hooks, 'Stop');
  const fireFileEvents = createConfigChangeHookCheck(core, hooks, loop.prompt.memory);
  return async (prompt: string, signal: AbortSignal, origin: UserOrigin): ReturnType<typeof onPrompt> => {
    bus.dropNotices();
    await settings.refresh();
    followSettings();
    await mcp.refresh();
    await Promise.all([loop.ready(), ready, editor.waitUntilReady()]);
    fireFileEvents();
    await hooks.checkWatchedFiles();
    const openingContext = await hooks.sessionStart.takeContext(signal);
    // Automatic turns have no user prompt that a hook could refuse.
    const verdict = origin === 'background' ? ADMIT : await onPrompt(prompt, signal);
    if (verdict.kind === 'block') return verdict;
    loop.runOverrides.startRun();
    const news = [...(await loop.prompt.collectNews()), ...(await languages.mainDiagnostics.takeReportedDiagnostics())];
    const focus = origin === 'background' ? [] : editor.takeContext();
    const context = [openingContext, verdict.context, ...news, ...focus].filter((text) => text !== undefined);
    return context.length === 0 ? verdict : { kind: 'go', context: context.join('\n') };
  };
}
