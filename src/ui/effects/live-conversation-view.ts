import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { AssistantBlock, AssistantMessage, Message } from '../../contracts/message.ts';
import { reduceView } from '../app-state/reduce-view.ts';
import type { ViewState } from '../app-state/view-state.ts';
import type { InputResult } from '../input/input-result.ts';
import type { ScreenOptions } from '../terminal/screen-options.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import { changesStatusLineFacts, refreshStatusLineFacts } from './conversation-facts.ts';
import { createCustomThemes } from './custom-themes.ts';
import { runUiEffect } from './run-ui-effect.ts';
import { createSessionListActions } from './session-list-actions.ts';
import {
  createOperationSequencer,
  type EffectScreenOutput,
  type ScreenEnd,
  type UiEffectHost,
} from './ui-effect-host.ts';

/** The view of one conversation on one screen, changed by events, keys and effects until the user exits. */
export type LiveConversationView = UiEffectHost & {
  /** Sets the view and runs the effects of an input event. The caller draws the view. */
  apply(result: InputResult): void;
  /** Resolves when the user exits or continues in another session. */
  readonly ended: Promise<ScreenEnd>;
  close(): void;
};

/** The dependencies of a live view. */
type LiveViewDeps = Pick<UiEffectHost, 'suspend' | 'openExternalEditor' | 'editFile' | 'readHiddenLine' | 'repaint'> & {
  readonly conversation: Conversation;
  readonly options: Pick<ScreenOptions, 'tmux' | 'now'>;
  readonly output: EffectScreenOutput;
  /** View at the start. */
  readonly initialState: ViewState;
  /** Called after a change of the view; `event` is set if an event of the conversation caused it. */
  readonly onChange: (before: ViewState, event?: AgentEvent) => void;
  /** Counts what is unsent, for the message at exit. */
  readonly describeUnsent: (view: ViewState) => string | undefined;
};

/** Creates the view of a conversation and subscribes it to the events. */
export function createLiveConversationView({
  initialState,
  onChange,
  describeUnsent,
  options,
  ...port
}: LiveViewDeps): LiveConversationView {
  const { conversation, output } = port;
  const { promise: ended, resolve: leave } = Promise.withResolvers<ScreenEnd>();
  let view = initialState;
  let running = NO_RUNNING_MESSAGES;

  const updateView: UiEffectHost['updateView'] = (update) => {
    const before = view;
    view = update(view);
    onChange(before);
  };
  const unsubscribe = conversation.agent.subscribe((event) => {
    const before = view;
    running = reduceRunningMessages(running, event);
    view = reduceView(view, event, options.now());
    if (changesStatusLineFacts(event)) view = { ...view, facts: refreshStatusLineFacts(view.facts, conversation) };
    onChange(before, event);
  });
  const unsubscribeEditor = conversation.editor?.subscribe((event) =>
    updateView((now) =>
      event.type === 'context' ? { ...now, editorContext: event.label } : addMention(now, event.text),
    ),
  );
  const themes = createCustomThemes({ conversation, output, updateView, repaint: port.repaint });

  const host: UiEffectHost = {
    ...port,
    tmux: options.tmux,
    sessionList: createSessionListActions({ conversation, updateView }),
    themes,
    getView: () => view,
    getMessages: () => collectShownMessages(conversation.agent.state().messages, running),
    updateView,
    runInOrder: createOperationSequencer(),
    leave(end) {
      const counted = end.type === 'leave' ? describeUnsent(view) : undefined;
      leave(counted === undefined ? end : { type: 'leave', unsent: counted });
    },
  };
  return {
    ...host,
    ended,
    apply(result) {
      view = result.view;
      for (const effect of result.effects) void runUiEffect(effect, host); // It reports its own failures.
    },
    close() {
      unsubscribe();
      unsubscribeEditor?.();
      themes.close();
    },
  };
}

/** The draft takes no more mentions of an editor beyond this length, as an editor may send them without end. */
const MAX_DRAFT_CHARS_FOR_MENTIONS = 10_000;

/** Inserts a mention from the user's editor into the draft, as a word of its own. */
function addMention(view: ViewState, mention: string): ViewState {
  const { text, caret } = view.editor;
  if (text.length + mention.length > MAX_DRAFT_CHARS_FOR_MENTIONS) return view;
  const gap = caret === 0 || /\s/.test(text.charAt(caret - 1)) ? '' : ' ';
  return { ...view, editor: applyDraftEditorAction(view.editor, { type: 'insert', text: `${gap}${mention} ` }, 0) };
}

/** The messages of the running query. The conversation contains them only after the query has ended. */
type RunningMessages = {
  readonly finished: readonly Message[];
  /** Reply being streamed, with its complete blocks; `partialText` is the text of the incomplete one. */
  readonly reply: (AssistantMessage & { readonly blocks: AssistantBlock[] }) | undefined;
  readonly partialText: string;
};

/** The state without a running query. @internal Exported for tests. */
export const NO_RUNNING_MESSAGES: RunningMessages = { finished: [], reply: undefined, partialText: '' };

/** Returns the running messages after an event. @internal Exported for tests. */
export function reduceRunningMessages(running: RunningMessages, event: AgentEvent): RunningMessages {
  const { finished, reply } = running;
  switch (event.type) {
    case 'agent_start':
    case 'agent_end':
      return NO_RUNNING_MESSAGES;
    case 'message_start':
      if (event.role !== 'assistant') return running;
      return {
        finished,
        reply: { role: 'assistant', id: event.messageId, model: event.model, blocks: [] },
        partialText: '',
      };
    case 'message_update':
      return event.kind === 'text' ? { ...running, partialText: running.partialText + event.delta } : running;
    case 'block_end':
      // Appended in place, because a reply can have thousands of calls.
      reply?.blocks.push(event.block);
      return { finished, reply, partialText: '' };
    case 'message_end':
      return { finished: [...finished, event.message], reply: undefined, partialText: '' };
    default:
      return running;
  }
}

/** Returns the stored messages followed by the running ones, including the incomplete reply. @internal */
export function collectShownMessages(
  known: readonly Message[],
  { finished, reply, partialText }: RunningMessages,
): readonly Message[] {
  const ids = new Set(known.map(({ id }) => id));
  const partial = partialText === '' ? [] : [{ type: 'text' as const, text: partialText }];
  const streaming = reply === undefined ? [] : [{ ...reply, blocks: [...reply.blocks, ...partial] }];
  return [...known, ...finished.filter(({ id }) => !ids.has(id)), ...streaming];
}
