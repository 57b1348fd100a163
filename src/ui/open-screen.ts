import type { AgentEvent } from '../contracts/event.ts';
import type { Conversation } from '../contracts/face/conversation.ts';
import { edit } from './composer/edit.ts';
import { STARTING_VIM } from './composer/vim.ts';
import { journalled, keptWords, recallDraft } from './effects/draft-journal.ts';
import type { EffectHost, ScreenEnd } from './effects/effect-host.ts';
import { bannerLines, factsOf } from './effects/facts.ts';
import { hearMessages } from './effects/hear-messages.ts';
import { createInOrder } from './effects/in-order.ts';
import { createLeftover } from './effects/leftover-draft.ts';
import { createOwnThemes } from './effects/own-themes.ts';
import { isPicturePath, pastePicture } from './effects/paste-image.ts';
import { runEffect } from './effects/run-effect.ts';
import { createSessionList } from './effects/session-list.ts';
import { resumedItems } from './history/resumed-items.ts';
import type { InputEvent } from './keys/input-event.ts';
import { nextChange, passTime, press } from './press/press.ts';
import type { PressContext } from './press/press-context.ts';
import { backgroundOf } from './terminal/background.ts';
import { createKeyboard, type TerminalIn } from './terminal/keyboard.ts';
import { createLending } from './terminal/lend-terminal.ts';
import { ASK_BACKGROUND, ASK_SIGN_WIDTH, MODES_OFF, MODES_ON, WIDE_COLUMN } from './terminal/modes.ts';
import { createPace } from './terminal/pace.ts';
import type { ScreenOptions } from './terminal/screen-options.ts';
import { createScreenOutput, SPINNER_MS } from './terminal/screen-output.ts';
import type { TerminalOut } from './terminal/stage.ts';
import { createTerminalWords } from './terminal/terminal-words.ts';
import { THEME_NAMES } from './theme/theme.ts';
import { holdsCode } from './view/holds-code.ts';
import { reduceView } from './view/reduce-view.ts';
import { initialView, isBusy, printing, type ViewState } from './view/view-state.ts';

/** A terminal with a keyboard. */
export type ScreenTerminal = { readonly out: TerminalOut; readonly in: TerminalIn };

/** The screen of one conversation. */
export type OpenScreen = {
  /** Resolves when the person leaves, or goes on elsewhere. */
  readonly left: Promise<ScreenEnd>;
  /** Puts the terminal back as it was. Safe to call more than once. */
  close(): void;
};

const CALM_MS = 1000;
/** Until then the first frame is there, and nothing took its time. */
const PAINTED_MS = 150;

/** Opens the screen: events of the conversation in, keys of the person out. */
export function openScreen(conversation: Conversation, terminal: ScreenTerminal, options: ScreenOptions): OpenScreen {
  const { promise: left, resolve: leave } = Promise.withResolvers<ScreenEnd>();
  const output = createScreenOutput(
    terminal.out,
    options,
    () => conversation.info().cwd,
    () => change((now) => now),
  );
  let isClosed = false;
  let clock: ReturnType<typeof setTimeout> | undefined;
  let isLoadingColors = false;
  let view = openingView(conversation, options);

  const heard = hearMessages(conversation.agent);
  const pace = createPace(flush);
  const repaint = () => {
    output.repaint();
    flush();
  };
  const themes = createOwnThemes({ conversation, output, change, repaint });
  const host: EffectHost = {
    conversation,
    tmux: options.tmux,
    output,
    sessions: createSessionList({ conversation, change }),
    themes,
    now: () => view,
    messages: () => heard.all(),
    change,
    inOrder: createInOrder(),
    leave(end) {
      const kept = end.type === 'leave' ? keptWords(view) : undefined;
      leave(kept === undefined ? end : { type: 'leave', kept });
    },
    suspend: () => lending.suspend(),
    editExternally: () => lending.editExternally(),
    editFile: (text, name) => lending.editFile(text, name),
    repaint,
  };

  /** Prints what is finished and draws what is not, in one go. The first code waits for its colours. */
  function flush(): void {
    pace.rest();
    if (isClosed || lending.isLent()) return;
    if (!output.hasColors() && holdsCode(view)) {
      if (!isLoadingColors) void output.loadColors().then(flush, flush);
      isLoadingColors = true;
      return;
    }
    draw();
  }

  function draw(): void {
    view = output.put(view);
    words.show(view);
    wind();
  }

  /** The one clock: it only runs while something on screen changes with time. */
  function wind(): void {
    clearTimeout(clock);
    const due = nextChange(view, context());
    const isMoving = isBusy(view) && view.keys.window !== 'away';
    const tick = isMoving ? (options.motion === 'full' ? SPINNER_MS : CALM_MS) : undefined;
    const untilDue = due === undefined ? undefined : Math.max(1, due - options.now() + 1);
    const wait = Math.min(tick ?? Number.POSITIVE_INFINITY, untilDue ?? Number.POSITIVE_INFINITY);
    if (!Number.isFinite(wait)) return;
    clock = setTimeout(() => {
      view = passTime(view, context());
      flush();
    }, wait);
  }

  function change(update: (now: ViewState) => ViewState): void {
    view = update(view);
    flush();
  }

  function context(): PressContext {
    return {
      nowMs: options.now(),
      commands: conversation.commands(),
      quietMs: options.dialogDelayMs,
      viewer: { height: output.height(), layOut: output.layOut },
      ...(options.keymap === undefined ? {} : { keymap: options.keymap }),
    };
  }

  function hear(events: readonly InputEvent[]): void {
    for (const event of events) {
      if (event.type === 'background' || event.type === 'scheme') {
        output.setBackground(backgroundOf(event));
        continue;
      }
      if (event.type === 'position') {
        if (event.column === WIDE_COLUMN) {
          output.toAscii();
          output.repaint();
        }
        continue;
      }
      if (event.type === 'paste' && isPicturePath(event.text)) {
        void pastePicture(event.text, host); // A path that leads to no picture is pasted as text.
        continue;
      }
      const pressed = press(view, event, context());
      leftover.heard(view, pressed.effects);
      view = pressed.view;
      for (const effect of pressed.effects) void runEffect(effect, host); // It tells its own failures.
    }
    conversation.draft.save(journalled(view));
    flush();
  }

  function onEvent(event: AgentEvent): void {
    heard.hear(event);
    view = reduceView(view, event, options.now());
    if (['turn_end', 'agent_end', 'mode', 'notice'].includes(event.type)) {
      view = { ...view, facts: { ...view.facts, ...factsOf(conversation), mode: conversation.info().mode } };
      askScript();
    }
    words.hear(event, view);
    pace.hear(event);
  }

  /** The person's own words for the status line; they come when they come. */
  function askScript(): void {
    void conversation.statusLine?.().then((script) => {
      if (script !== undefined) change((now) => ({ ...now, facts: { ...now.facts, script } }));
    });
  }

  const leftover = createLeftover({ conversation, change, now: options.now });
  const words = createTerminalWords(output.write, options);
  const unsubscribe = conversation.agent.subscribe(onEvent);
  const keyboard = createKeyboard(terminal.in, hear);
  const { editor } = options;
  const lending = createLending({ output, keyboard, now: () => view, change, editor });
  const isAsked = options.depth !== 'none' && !THEME_NAMES.some((name) => name === options.theme);
  terminal.out.write(isAsked ? MODES_ON + ASK_BACKGROUND : MODES_ON);
  if (options.signWidth === 'asked' && terminal.out.columns > WIDE_COLUMN) terminal.out.write(ASK_SIGN_WIDTH);
  keyboard.open();
  askScript();
  flush();
  void themes.use(options.theme).catch(() => undefined); // The terminal's own colours will do.
  void recallDraft(conversation, change, options.now())
    .then(leftover.offer)
    .catch(() => undefined); // No draft is no reason not to begin.
  // Whoever chooses a session has not begun this one.
  const begin = options.opens === 'sessions' ? undefined : setTimeout(() => conversation.begin?.(), PAINTED_MS);
  if (options.opens === 'sessions') void host.sessions.open('folder');
  if (options.prompt !== undefined) {
    void runEffect({ type: 'prompt', parts: [{ kind: 'text', text: options.prompt }] }, host);
  }

  return {
    left,
    close() {
      if (isClosed) return;
      pace.rest();
      if (!lending.isLent()) draw();
      isClosed = true;
      clearTimeout(clock);
      clearTimeout(begin);
      unsubscribe();
      themes.close();
      words.close();
      keyboard.close();
      output.close();
      terminal.out.write(MODES_OFF);
    },
  };
}

/** What is there before anything has happened: where we are, what should be known, what was said last. */
function openingView(
  conversation: Conversation,
  { banner, typed = '', vim, keyProblems = [] }: ScreenOptions,
): ViewState {
  const info = conversation.info();
  const initial = initialView(factsOf(conversation), info.todos);
  const editor = edit(initial.editor, { type: 'insert', text: typed }, 0);
  const view = { ...initial, editor, vim: vim === 'on' ? STARTING_VIM : undefined };
  const warnings = [...info.warnings, ...keyProblems].map((text) => ({
    kind: 'notice' as const,
    level: 'warn' as const,
    text,
  }));
  const head = banner === 'shown' ? [{ kind: 'banner' as const, lines: bannerLines(info) }] : [];
  return printing(view, ...head, ...warnings, ...resumedItems(conversation.agent.state().messages));
}
