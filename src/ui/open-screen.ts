import type { Conversation } from '../contracts/face/conversation.ts';
import { edit } from './composer/edit.ts';
import { STARTING_VIM } from './composer/vim.ts';
import { journalled, keptWords, recallDraft } from './effects/draft-journal.ts';
import type { ScreenEnd } from './effects/effect-host.ts';
import { askStatusLine, bannerOf, changesFacts, offerLastSession, statusFactsOf } from './effects/facts.ts';
import { createLeftover, type LeftoverOffer } from './effects/leftover-draft.ts';
import { createLiveView, type LiveView } from './effects/live-view.ts';
import { offerNext } from './effects/offer-next.ts';
import { isPicturePath, pastePicture } from './effects/paste-image.ts';
import { resumedItems } from './history/resumed-items.ts';
import type { InputEvent } from './keys/input-event.ts';
import type { TerminalIn } from './keys/terminal-in.ts';
import type { Effect } from './press/effects.ts';
import { press } from './press/press.ts';
import type { PressContext } from './press/press-context.ts';
import { backgroundOf } from './terminal/background.ts';
import { answerMs, type FirstFrame, holdFirstFrame } from './terminal/first-frame.ts';
import { createFrames } from './terminal/frames.ts';
import { createKeyboard } from './terminal/keyboard.ts';
import { createLending } from './terminal/lend-terminal.ts';
import { MODES_OFF, openingSequence, WIDE_COLUMN } from './terminal/modes.ts';
import type { ScreenOptions } from './terminal/screen-options.ts';
import { createScreenOutput, type ScreenOutput } from './terminal/screen-output.ts';
import type { TerminalOut } from './terminal/stage.ts';
import { createTerminalWords } from './terminal/terminal-words.ts';
import { resizeWindow } from './view/slice-asks.ts';
import { initialView, printing, type ViewState } from './view/view-state.ts';

/** A terminal with a keyboard. */
export type ScreenTerminal = { readonly out: TerminalOut; readonly in: TerminalIn };

/** The screen of one conversation. */
export type OpenScreen = {
  /** Resolves when the person leaves, or goes on elsewhere. */
  readonly left: Promise<ScreenEnd>;
  /** Puts the terminal back as it was. Safe to call more than once. */
  close(): void;
};

/** Until then the first frame is there, and nothing has slowed it down. */
const PAINTED_MS = 150;

/** Opens the screen: events of the conversation in, keys of the person out. */
export function openScreen(conversation: Conversation, terminal: ScreenTerminal, options: ScreenOptions): OpenScreen {
  const output = createScreenOutput(terminal.out, options, () => conversation.info().cwd, onResized);
  const words = createTerminalWords(output.write, options);
  const repaint = () => {
    output.repaint();
    frames.show();
  };
  const live = createLiveView({
    conversation,
    options,
    output,
    opening: openingView(conversation, options),
    unsent: keptWords,
    repaint,
    suspend: () => lending.suspend(),
    editExternally: () => lending.editExternally(),
    editFile: (text, name) => lending.editFile(text, name),
    askHidden: (label) => lending.askHidden(label, terminal.in),
    onChange(_before, event) {
      if (event === undefined) return frames.show();
      if (changesFacts(event)) askStatusLine(conversation, live.change);
      if (event.type === 'agent_end' && event.terminal.reason === 'completed')
        void offerNext(conversation, live.now, live.change).catch(() => undefined); // Nobody misses a guess.
      words.hear(event, live.now());
      frames.schedule(event);
    },
  });
  function onResized(): void {
    live.take({ view: resizeWindow(live.now(), options.now()), effects: [] });
    frames.show();
  }
  const context = (): PressContext => ({
    nowMs: options.now(),
    commands: conversation.commands(),
    quietMs: options.dialogDelayMs,
    viewer: { height: output.height(), layOut: output.layOut },
    inSight: output.inSight,
    ...(options.keymap === undefined ? {} : { keymap: options.keymap }),
  });
  const frames = createFrames({
    output,
    motion: options.motion,
    view: live.now,
    replace: (view) => live.take({ view, effects: [] }),
    context,
    isLent: () => lending.isLent() || first.isHeld(),
    onDrawn: words.show,
  });
  const leftover = createLeftover({ conversation, change: live.change, now: options.now });
  const keyboard = createKeyboard(terminal.in, (events) => {
    for (const event of events) receiveInput(event, live, { output, first }, context(), leftover);
    conversation.draft.save(journalled(live.now()));
    frames.show();
  });
  const lending = createLending({ output, keyboard, now: live.now, change: live.change, editor: options.editor });

  const first = holdFirstFrame(answerMs(options), () => frames.show());
  terminal.out.write(openingSequence(options, terminal.out.columns));
  keyboard.open();
  askStatusLine(conversation, live.change);
  frames.show();
  const begin = beginConversation(live, options, leftover);

  let isClosed = false;
  return {
    left: live.left,
    close() {
      if (isClosed) return;
      isClosed = true;
      first.release();
      frames.close();
      clearTimeout(begin);
      live.close();
      words.close();
      output.close();
      terminal.out.write(MODES_OFF);
      keyboard.close();
    },
  };
}

/** Reads the theme and the drafts; sends what was given on the command line, or shows the sessions to choose from. */
function beginConversation(live: LiveView, options: ScreenOptions, leftover: LeftoverOffer) {
  const { conversation } = live;
  void live.themes.use(options.theme).catch(() => undefined); // The terminal's own colours will do.
  void recallDraft(conversation, live.change, options.now())
    .then(leftover.offer)
    .catch(() => undefined); // No draft is no reason not to begin.
  // Whoever chooses a session has not begun this one.
  const first = () => {
    conversation.begin?.();
    if (options.banner === 'shown')
      void offerLastSession(conversation, live.change, options.now()).catch(() => undefined); // It is only offered.
  };
  const begin = options.opens === 'sessions' ? undefined : setTimeout(first, PAINTED_MS);
  if (options.opens === 'sessions') void live.sessions.open('folder');
  if (options.prompt !== undefined) {
    const sent: Effect = { type: 'prompt', parts: [{ kind: 'text', text: options.prompt }] };
    live.take({ view: live.now(), effects: [sent] });
  }
  return begin;
}

/** What a key, a paste or an answer of the terminal comes to. */
function receiveInput(
  event: InputEvent,
  live: LiveView,
  { output, first }: { readonly output: ScreenOutput; readonly first: FirstFrame },
  context: PressContext,
  leftover: LeftoverOffer,
): void {
  if (event.type === 'background' || event.type === 'scheme') {
    output.setBackground(backgroundOf(event));
    first.release();
  } else if (event.type === 'position') {
    if (event.column !== WIDE_COLUMN) return;
    output.toAscii();
    output.repaint();
  } else if (event.type === 'paste' && isPicturePath(event.text)) {
    void pastePicture(event.text, live); // A path that leads to no picture is pasted as text.
  } else {
    const pressed = press(live.now(), event, context);
    leftover.noteSent(live.now(), pressed.effects);
    live.take(pressed);
  }
}

/** What is there before anything has happened: where we are, what should be known, what was said last. */
function openingView(
  conversation: Conversation,
  { banner, typed = '', vim, keyProblems = [] }: ScreenOptions,
): ViewState {
  const info = conversation.info();
  const initial = initialView(statusFactsOf(conversation), info.todos);
  const editor = edit(initial.editor, { type: 'insert', text: typed }, 0);
  const { items, ...state } = resumedItems(
    conversation.past?.opening ?? [],
    conversation.agent.state().messages,
    initial.facts,
  );
  const view: ViewState = { ...initial, ...state, editor, vim: vim === 'on' ? STARTING_VIM : undefined };
  const warnings = [...info.warnings, ...keyProblems].map((text) => ({
    kind: 'notice' as const,
    level: 'warn' as const,
    text,
  }));
  const head = banner === 'shown' ? [{ kind: 'banner' as const, ...bannerOf(info) }] : [];
  return printing(view, ...head, ...warnings, ...items);
}
