import type { Conversation } from '../../contracts/conversation.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import { edit } from '../composer/edit.ts';
import { createEditor } from '../composer/editor-state.ts';
import type { Drawing } from '../drawing.ts';
import { ASCII_GLYPHS, UNICODE_GLYPHS } from '../glyphs.ts';
import type { InputEvent } from '../keys/input-event.ts';
import type { Highlight } from '../markdown/highlight.ts';
import { nextChange, passTime, press } from '../press/press.ts';
import type { PressContext } from '../press/press-context.ts';
import { drawScreen } from '../screen/draw-screen.ts';
import { createKeyboard, type TerminalIn } from '../terminal/keyboard.ts';
import { MODES_OFF, MODES_ON } from '../terminal/modes.ts';
import { createStage, type TerminalOut } from '../terminal/stage.ts';
import { resolveTheme, THEME_NAMES } from '../theme.ts';
import { createPaint } from '../theme-paint.ts';
import { reduceView } from '../view/reduce-view.ts';
import { initialView, isBusy, printing, type ViewState } from '../view/view-state.ts';
import { bannerLines, factsOf } from './facts.ts';
import { createPrinter } from './printer.ts';
import { runEffect } from './run-effect.ts';
import type { ScreenOptions } from './screen-options.ts';

/** A terminal with a keyboard. */
export type ScreenTerminal = { readonly out: TerminalOut; readonly in: TerminalIn };

/** The screen of one conversation. */
export type OpenScreen = {
  /** Resolves with the exit code when the person leaves. */
  readonly left: Promise<number>;
  /** Puts the terminal back as it was. Safe to call more than once. */
  close(): void;
};

const FLUSH_MS = 40;
const SPINNER_MS = 250;
const CALM_MS = 1000;
const HISTORY_ENTRIES = 500;

/** Opens the screen: events of the conversation in, keys of the person out. */
export function openScreen(conversation: Conversation, terminal: ScreenTerminal, options: ScreenOptions): OpenScreen {
  const { promise: left, resolve: leave } = Promise.withResolvers<number>();
  const printer = createPrinter(options.prose);
  const glyphs = options.glyphs === 'ascii' ? ASCII_GLYPHS : UNICODE_GLYPHS;
  let paint = createPaint(resolveTheme(options.theme, options), options.depth);
  let highlight: Highlight | undefined;
  let isClosed = false;
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  let clock: ReturnType<typeof setTimeout> | undefined;
  let view: ViewState = initialView(factsOf(conversation), conversation.info().todos);
  if (options.banner === 'shown') view = printing(view, { kind: 'banner', lines: bannerLines(conversation.info()) });
  for (const text of conversation.info().warnings) view = printing(view, { kind: 'notice', level: 'warn', text });

  const stage = createStage(terminal.out, () => change((now) => now));
  const host = {
    conversation,
    change,
    leave,
    suspend: () => undefined,
    editExternally: () => undefined,
    openTranscript: () => undefined,
    repaint() {
      stage.clear();
      flush();
    },
    setTheme(name: string) {
      const wanted = THEME_NAMES.find((one) => one === name) ?? 'auto';
      paint = createPaint(resolveTheme(wanted, options), options.depth);
      flush();
    },
  };

  function drawing(): Drawing {
    const nowMs = Date.now();
    const frames = glyphs.spinner;
    const step = options.motion === 'full' ? Math.floor(nowMs / SPINNER_MS) % frames.length : 0;
    return {
      width: terminal.out.columns,
      rows: terminal.out.rows,
      glyphs,
      nowMs,
      spinner: frames[step] ?? '',
      cwd: conversation.info().cwd,
      links: options.links,
      marks: options.depth === 'none' ? 'shown' : 'hidden',
      highlight,
    };
  }

  /** Prints what is finished and draws what is not, in one go. */
  function flush(): void {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    if (isClosed) return;
    const now = drawing();
    const lines = printer.print(view.outbox, now, paint);
    if (view.outbox.length > 0) view = { ...view, outbox: [] };
    const frame = drawScreen(view, now, printer.carry(), paint);
    if (lines.length > 0) stage.commit(lines, frame);
    else stage.show(frame);
    wind();
  }

  /** The one clock: it only runs while something on screen changes with time. */
  function wind(): void {
    clearTimeout(clock);
    const due = nextChange(view, context());
    const isMoving = isBusy(view) && view.keys.window !== 'away';
    const tick = isMoving ? (options.motion === 'full' ? SPINNER_MS : CALM_MS) : undefined;
    const untilDue = due === undefined ? undefined : Math.max(1, due - Date.now() + 1);
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
    return { nowMs: Date.now(), commands: conversation.commands(), quietMs: options.dialogDelayMs };
  }

  function hear(events: readonly InputEvent[]): void {
    for (const event of events) {
      const pressed = press(view, event, context());
      view = pressed.view;
      for (const effect of pressed.effects) void runEffect(effect, host); // It tells its own failures.
    }
    conversation.draft.save(draftOf(view));
    flush();
  }

  function onEvent(event: AgentEvent): void {
    view = reduceView(view, event, Date.now());
    if (event.type === 'turn_end' || event.type === 'agent_end' || event.type === 'mode') {
      view = { ...view, facts: { ...factsOf(conversation), mode: conversation.info().mode } };
    }
    if (event.type === 'agent_start') void loadColors();
    flushTimer ??= setTimeout(flush, event.type === 'agent_end' ? 0 : FLUSH_MS);
  }

  async function loadColors(): Promise<void> {
    highlight ??= await (await import('../markdown/highlight.ts')).loadHighlight();
  }

  const unsubscribe = conversation.agent.subscribe(onEvent);
  const keyboard = createKeyboard(terminal.in, hear);
  terminal.out.write(MODES_ON);
  keyboard.open();
  flush();
  void restoreDraft(conversation, change);
  if (options.prompt !== undefined) {
    void runEffect({ type: 'prompt', parts: [{ kind: 'text', text: options.prompt }] }, host);
  }

  return {
    left,
    close() {
      if (isClosed) return;
      flush();
      isClosed = true;
      clearTimeout(clock);
      unsubscribe();
      keyboard.close();
      stage.close();
      terminal.out.write(MODES_OFF);
    },
  };
}

/** What was being written when the program last ended, and what was sent before. */
async function restoreDraft(
  conversation: Conversation,
  change: (update: (view: ViewState) => ViewState) => void,
): Promise<void> {
  const [draft, entries] = await Promise.all([
    conversation.draft.load(),
    conversation.history.recent('folder', HISTORY_ENTRIES),
  ]);
  change((view) => {
    const withHistory = edit(view.editor, { type: 'history', entries: entries.toReversed() }, 0);
    if (draft === undefined || draft.text === '' || view.editor.text !== '') return { ...view, editor: withHistory };
    return { ...view, editor: createEditor({ draft, history: entries.toReversed() }) };
  });
}

function draftOf(view: ViewState) {
  const { text, caret } = view.editor;
  const queue = view.queue.map(({ lane, message }) => ({
    lane,
    text: message.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n'),
  }));
  return { text, caret, pastes: [], queue };
}
