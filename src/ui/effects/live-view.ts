import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { Pressed } from '../press/effects.ts';
import type { ScreenOptions } from '../terminal/screen-options.ts';
import { reduceView } from '../view/reduce-view.ts';
import type { ViewState } from '../view/view-state.ts';
import { createInOrder, type EffectHost, type EffectOutput, type ScreenEnd } from './effect-host.ts';
import { changesFacts, factsNow } from './facts.ts';
import { createOwnThemes } from './own-themes.ts';
import { runEffect } from './run-effect.ts';
import { allMessages, NOTHING_RUNNING, reduceMessages } from './running-messages.ts';
import { createSessionList } from './session-list.ts';

/** The view of one conversation on one screen: events, keys and effects change it, until its person leaves. */
export type LiveView = EffectHost & {
  /** Takes what a key has led to, and carries out what it asks for. Nothing is shown by this alone. */
  take(pressed: Pressed): void;
  /** Resolves when the person leaves, or goes on elsewhere. */
  readonly left: Promise<ScreenEnd>;
  close(): void;
};

/** What a screen brings along. */
export type LiveViewPort = Pick<EffectHost, 'suspend' | 'editExternally' | 'editFile' | 'askHidden' | 'repaint'> & {
  readonly conversation: Conversation;
  readonly options: Pick<ScreenOptions, 'tmux' | 'now'>;
  readonly output: EffectOutput;
  readonly opening: ViewState;
  /** The view has changed; `event` where the conversation has changed it. */
  readonly onChange: (before: ViewState, event?: AgentEvent) => void;
  /** What is left unsent, counted. */
  readonly unsent: (view: ViewState) => string | undefined;
};

export function createLiveView({ opening, onChange, unsent, options, ...port }: LiveViewPort): LiveView {
  const { conversation, output } = port;
  const { promise: left, resolve: leave } = Promise.withResolvers<ScreenEnd>();
  let view = opening;
  let running = NOTHING_RUNNING;

  const change: EffectHost['change'] = (update) => {
    const before = view;
    view = update(view);
    onChange(before);
  };
  const unsubscribe = conversation.agent.subscribe((event) => {
    const before = view;
    running = reduceMessages(running, event);
    view = reduceView(view, event, options.now());
    if (changesFacts(event)) view = { ...view, facts: factsNow(view.facts, conversation) };
    onChange(before, event);
  });
  const themes = createOwnThemes({ conversation, output, change, repaint: port.repaint });

  const host: EffectHost = {
    ...port,
    tmux: options.tmux,
    sessions: createSessionList({ conversation, change }),
    themes,
    now: () => view,
    messages: () => allMessages(conversation.agent.state().messages, running),
    change,
    inOrder: createInOrder(),
    leave(end) {
      const kept = end.type === 'leave' ? unsent(view) : undefined;
      leave(kept === undefined ? end : { type: 'leave', kept });
    },
  };
  return {
    ...host,
    left,
    take(pressed) {
      view = pressed.view;
      for (const effect of pressed.effects) void runEffect(effect, host); // It shows its own failures.
    },
    close() {
      unsubscribe();
      themes.close();
    },
  };
}
