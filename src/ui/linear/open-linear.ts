import { createInterface, type Interface } from 'node:readline';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { joinPrinted, printed } from '../../lib/printable.ts';
import { bannerOf, statusFactsOf } from '../effects/facts.ts';
import { createLiveView, type LiveView } from '../effects/live-view.ts';
import { NO_CARRY } from '../history/history-lines.ts';
import type { OpenScreen, ScreenTerminal } from '../open-screen.ts';
import type { Pressed } from '../press/effects.ts';
import { press } from '../press/press.ts';
import type { PressContext } from '../press/press-context.ts';
import type { Drawing } from '../text/drawing.ts';
import { takesKeys } from '../view/overlay.ts';
import { initialView, isBusy, type ViewState } from '../view/view-state.ts';
import { createLinearWriter, ended, type LinearWriter } from './line-writer.ts';
import { createLinearDraft } from './linear-draft.ts';
import { type LinearOptions, linearDrawing, linearOutput } from './linear-options.ts';
import { askWords, changeWords } from './linear-words.ts';
import { pressLine } from './press-line.ts';
import { createProgressNotes } from './progress-notes.ts';

/** A screen that only ever adds lines: for screen readers, and for terminals that can do nothing else. */
export function openLinear(conversation: Conversation, terminal: ScreenTerminal, options: LinearOptions): OpenScreen {
  const isEdited = options.lineEditing === 'own';
  const reader = createInterface({ input: process.stdin, output: process.stdout, terminal: isEdited, prompt: 'You: ' });
  const writer = createLinearWriter(reader, terminal, options, () => live.now());
  const { say } = writer;
  const drawing = (): Drawing => linearDrawing(terminal.out, options.now(), conversation.info().cwd);
  const notes = createProgressNotes((line) => say(live.now().asks.length === 0 ? [line] : []));
  const live = createLiveView({
    conversation,
    options,
    output: linearOutput(writer.write, drawing),
    opening: initialView(statusFactsOf(conversation), conversation.info().todos),
    unsent: () => drafts.left(),
    suspend: () => undefined,
    editExternally: () => say(['The editor of your own is not used here.']),
    editFile: writer.editFile,
    repaint: () => reader.prompt(true),
    onChange(before, event) {
      if (event?.type === 'agent_start') notes.start();
      if (event?.type === 'agent_end') notes.stop();
      show(before);
    },
  });
  const drafts = createLinearDraft(conversation, reader, options, live.now, say);
  let carry = NO_CARRY;

  function show(before: ViewState): void {
    const change = changeWords(before, live.now(), drawing(), carry);
    carry = change.carry;
    live.take({ view: change.view, effects: [] });
    if (change.asksAnew && options.notify !== 'off') writer.write(printed`\u0007`);
    if (isBusy(before) && !isBusy(change.view) && change.lines.length === 0) reader.prompt(true);
    say(change.lines);
    if (change.view.queue !== before.queue) drafts.save();
  }

  /** Does what a key, or an answer, has led to. */
  function follow(pressed: Pressed): void {
    const before = live.now();
    live.take(pressed);
    show(before);
    const { hint } = live.now();
    if (hint !== undefined && hint !== before.hint) say([hint.text]);
  }

  function onLine(line: string): void {
    const view = live.now();
    const draft = line === '/draft' ? drafts.take() : undefined;
    const pressed = pressLine(view, line, contextOf(live, options), draft);
    if (pressed === 'again') say(askWords(view, drawing()));
    else follow(pressed);
    if (line.trim() === '' && view.asks.length === 0 && !takesKeys(view.overlay)) reader.prompt();
    drafts.save();
  }

  const stopReading = readTerminal(reader, {
    onLine,
    onChord: (chord) => follow(press(live.now(), { type: 'key', chord, text: '' }, contextOf(live, options))),
    onKey: drafts.save,
    onEnd: () => live.leave({ type: 'leave' }),
  });
  greet(live, writer, options);
  void drafts.recall().catch(() => undefined); // No draft is no reason not to begin.
  if (options.prompt !== undefined) {
    writer.write(joinPrinted(options.prompt.split('\n').map(ended)));
    onLine(options.prompt);
  }
  let isClosed = false;
  return {
    left: live.left,
    close() {
      if (isClosed) return;
      isClosed = true;
      notes.stop();
      live.close();
      stopReading();
      writer.close();
    },
  };
}

function contextOf({ conversation, output }: LiveView, { now }: LinearOptions): PressContext {
  const viewer = { height: output.height(), layOut: () => [] };
  return { nowMs: now(), commands: conversation.commands(), quietMs: 0, viewer };
}

/** What is said at the start; the line ends with the words before an answer of the person. */
function greet({ conversation }: LiveView, { write, say }: LinearWriter, options: LinearOptions): void {
  const { why, keyProblems = [], opens } = options;
  const info = conversation.info();
  const { version, model, window } = bannerOf(info);
  const banner = `ouro ${version}     ${model} · ${window} window`;
  write(joinPrinted([why, banner, ...info.warnings, ...keyProblems].map(ended)));
  say(['Type a message and press enter. /help lists commands, /stop stops what runs, /exit leaves.']);
  if (opens !== 'sessions') conversation.begin?.();
}

type TerminalListeners = {
  readonly onLine: (line: string) => void;
  readonly onChord: (chord: string) => void;
  /** A key that changes the line. */
  readonly onKey: () => void;
  readonly onEnd: () => void;
};

/** Lines, and the two keys that mean something beside them; answers with the way to stop. */
function readTerminal(reader: Interface, { onLine, onChord, onKey, onEnd }: TerminalListeners): () => void {
  const onKeypress = (_text: string, key: { readonly name?: string } | undefined) => {
    if (key?.name === 'escape') onChord('escape');
    onKey();
  };
  reader.on('line', onLine);
  reader.on('SIGINT', () => onChord('ctrl+c'));
  reader.on('close', onEnd);
  process.stdin.on('keypress', onKeypress);
  return () => {
    process.stdin.off('keypress', onKeypress);
    reader.close();
  };
}
