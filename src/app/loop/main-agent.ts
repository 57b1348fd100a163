import { assembleAgent } from '../../agent/agent.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { PromptVerdict } from '../../contracts/hook.ts';
import type { UserOrigin } from '../../contracts/message.ts';
import { loopHooks } from '../../hooks/loop-hooks.ts';
import type { Core } from '../core.ts';
import type { McpServers } from '../mcp/servers.ts';
import type { SessionCheckpoints } from '../session/checkpoints.ts';
import type { SessionLanguages } from '../session/languages.ts';
import type { Session } from '../session/session.ts';
import { createSettingsFollower } from '../settings/follow-settings.ts';
import { createFileMoments } from './hooks/hook-moments.ts';
import type { SessionHooks } from './hooks/session-hooks.ts';
import { hookNews } from './hooks/session-hooks.ts';
import type { Loop } from './loop.ts';
import type { TurnLog } from './turn-log.ts';

type Needs = {
  readonly session: Session;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly mcp: McpServers;
  readonly hooks: SessionHooks;
  readonly loop: Loop;
  readonly turnLog: Pick<TurnLog, 'expect'>;
  readonly languages: Pick<SessionLanguages, 'main'>;
  /** Nothing that an earlier run left lives any more. */
  readonly ready: Promise<unknown>;
};

/** The agent of the conversation: what it is told is on disk first, then everybody else hears. */
export function createMainAgent(core: Core, needs: Needs): Agent {
  const { session, checkpoints, hooks, loop } = needs;
  const { opened } = session;
  const tell = (text: string) => void core.bus.tell({ type: 'notice', level: 'warn', topic: 'hook', text });
  const agent = assembleAgent({
    sessionId: opened.id,
    messages: opened.messages,
    queued: opened.stored.queued,
    listeners: [
      session.record,
      ...(checkpoints === undefined ? [] : [checkpoints.hear]),
      core.meter.count,
      loop.hear,
      hookNews(hooks, loop.addNews, { face: core.options.face, tell }),
      ...(session.debugLog === undefined ? [] : [session.debugLog]),
    ],
    attach: core.bus.attach,
    onPrompt: promptHearer(core, needs),
    deps: loop.deps.conversation,
    describe: () => {
      const { model, effort, mode, cwd } = core.live.now();
      return { model, effort, mode, cwd };
    },
    newId: core.newId,
    now: core.now,
  });
  hooks.hearLate(({ words, how, title }) => {
    loop.addNews(words);
    if (how === 'next turn') return;
    const about = {
      type: 'background',
      id: `hook_${core.newId().slice(0, 8)}`,
      callId: '',
      kind: 'shell',
      title,
    } as const;
    void core.bus.tell({ ...about, state: 'started' });
    void core.bus.tell({ ...about, state: 'completed', words });
  });
  return { ...agent, subscribe: (listener) => core.bus.join(agent.subscribe, listener) };
}

const GO: PromptVerdict = { kind: 'go' };

/** Before a prompt: files that changed are read again, what must be ready is waited for, and hooks are asked. */
function promptHearer(core: Core, { mcp, loop, hooks, turnLog, languages, ready }: Needs) {
  const { settings, bus } = core;
  const followSettings = createSettingsFollower(core, turnLog);
  const { onPrompt } = loopHooks(hooks, 'Stop');
  const lookAtFiles = createFileMoments(core, hooks, loop.prompt.memory);
  return async (words: string, signal: AbortSignal, origin: UserOrigin): ReturnType<typeof onPrompt> => {
    bus.begin();
    await settings.refresh();
    followSettings();
    await mcp.refresh();
    await Promise.all([loop.ready(), ready]);
    lookAtFiles();
    await hooks.lookAtWatched();
    const opened = await hooks.opening.context(signal);
    // What nobody said is nothing a hook could object to.
    const verdict = origin === 'background' ? GO : await onPrompt(words, signal);
    if (verdict.kind === 'block') return verdict;
    loop.wishes.begin();
    const news = [...(await loop.prompt.collect()), ...(await languages.main.newsSoFar())];
    const context = [opened, verdict.context, ...news].filter((text) => text !== undefined);
    return context.length === 0 ? verdict : { kind: 'go', context: context.join('\n') };
  };
}
