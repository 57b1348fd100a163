import { createInterface } from 'node:readline';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { edit } from '../composer/edit.ts';
import type { EffectHost, ScreenEnd } from '../effects/effect-host.ts';
import { bannerLines, factsOf } from '../effects/facts.ts';
import { hearMessages } from '../effects/hear-messages.ts';
import { createInOrder } from '../effects/in-order.ts';
import { createOwnThemes } from '../effects/own-themes.ts';
import { runEffect } from '../effects/run-effect.ts';
import { createSessionList } from '../effects/session-list.ts';
import { NO_CARRY } from '../history/history-lines.ts';
import type { OpenScreen, ScreenTerminal } from '../open-screen.ts';
import type { Pressed } from '../press/effects.ts';
import { press } from '../press/press.ts';
import type { PressContext } from '../press/press-context.ts';
import { inAscii } from '../terminal/in-ascii.ts';
import type { ScreenOptions } from '../terminal/screen-options.ts';
import { ASCII_GLYPHS } from '../theme/glyphs.ts';
import { reduceView } from '../view/reduce-view.ts';
import { initialView, isBusy, type ViewState } from '../view/view-state.ts';
import { answerLine } from './answer-line.ts';
import { createLineLending } from './lend-line.ts';
import { createLinearDraft } from './linear-draft.ts';
import { createLinearOutput } from './linear-output.ts';
import { askWords, begunWords, finishedWords } from './linear-words.ts';
import { overlayWords } from './overlay-words.ts';

/** Why this face is in front, and what the terminal can do with a line that is edited. */
export type LinearOptions = ScreenOptions & { readonly why: string; readonly lineEditing: 'own' | 'none' };

/** Work that goes on is told after so many seconds, then every minute. */
const PROGRESS_SECONDS = [10, 30, 60];

/** A face that only ever adds lines: for screen readers, and for terminals that can do nothing else. */
export function openLinear(conversation: Conversation, terminal: ScreenTerminal, options: LinearOptions): OpenScreen {
  const { promise: left, resolve: leave } = Promise.withResolvers<ScreenEnd>();
  const out = inAscii(terminal.out);
  const write = (text: string) => void out.write(text);
  const drawing = () => ({
    width: Math.max(20, terminal.out.columns),
    rows: terminal.out.rows,
    glyphs: ASCII_GLYPHS,
    nowMs: options.now(),
    spinner: '',
    cwd: conversation.info().cwd,
    links: 'printed' as const,
    marks: 'shown' as const,
    highlight: undefined,
  });
  let view = initialView(factsOf(conversation), conversation.info().todos);
  let carry = NO_CARRY;
  let progress: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  const reader = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: options.lineEditing === 'own',
    prompt: 'You: ',
  });
  const drafts = createLinearDraft({
    conversation,
    reader,
    lineEditing: options.lineEditing,
    now: () => view,
    say,
    nowMs: options.now,
  });
  const { lineEditing, editor } = options;
  const lending = createLineLending({ reader, input: terminal.in, lineEditing, editor, say });
  const heard = hearMessages(conversation.agent);
  const output = createLinearOutput(write, drawing);
  const host: EffectHost = {
    conversation,
    tmux: options.tmux,
    output,
    sessions: createSessionList({ conversation, change }),
    themes: createOwnThemes({ conversation, output, change, repaint: () => undefined }),
    now: () => view,
    messages: () => heard.all(),
    change,
    inOrder: createInOrder(),
    leave: goAway,
    suspend: () => undefined,
    editExternally: () => say(['The editor of your own is not used here.']),
    editFile: (text, name) => lending.editFile(text, name),
    repaint: () => reader.prompt(true),
  };

  function goAway(end: ScreenEnd): void {
    const kept = end.type === 'leave' ? drafts.left() : undefined;
    leave(kept === undefined ? end : { type: 'leave', kept });
  }

  /** Lines go below what is being typed, which is shown again. */
  function say(lines: readonly string[]): void {
    if (lines.length === 0 || isClosed || lending.keepsBack(lines)) return;
    write(`${reader.line === '' ? '\r' : '\r\n'}${lines.map((line) => `${line}\r\n`).join('')}`);
    if (!isBusy(view) || view.asks.length > 0 || reader.line !== '') reader.prompt(true);
  }

  /** Says what a change has brought: what finished, what began, what is asked. */
  function tell(before: ViewState): void {
    const lines: string[] = [];
    for (const item of view.outbox) {
      const said = finishedWords(item, drawing(), carry);
      carry = said.carry;
      lines.push(...said.lines);
    }
    view = { ...view, outbox: [] };
    lines.push(...begunWords(before, view, drawing()));
    const isNew = view.asks[0]?.id !== before.asks[0]?.id || stepOf(view) !== stepOf(before);
    if (view.asks.length > 0 && isNew) {
      lines.push(...askWords(view, drawing()));
      if (options.notify !== 'off') write('\u0007');
    }
    if (view.overlay !== before.overlay) {
      const opened = overlayWords(view, drawing());
      lines.push(...opened.lines);
      view = opened.view;
    }
    if (isBusy(before) && !isBusy(view) && lines.length === 0) reader.prompt(true);
    say(lines);
    if (view.queue !== before.queue) drafts.save();
  }

  function change(update: (now: ViewState) => ViewState): void {
    const before = view;
    view = update(view);
    tell(before);
  }

  function onEvent(event: AgentEvent): void {
    heard.hear(event);
    if (event.type === 'agent_start') watch(0);
    if (event.type === 'agent_end') clearTimeout(progress);
    change((now) => {
      const next = reduceView(now, event, options.now());
      return event.type === 'mode' || event.type === 'agent_end'
        ? { ...next, facts: { ...next.facts, ...factsOf(conversation) } }
        : next;
    });
  }

  function watch(step: number): void {
    const at = PROGRESS_SECONDS[step] ?? 60 * (step - 1);
    const passed = step === 0 ? 0 : (PROGRESS_SECONDS[step - 1] ?? 60 * (step - 2));
    progress = setTimeout(
      () => {
        if (view.asks.length === 0) say([`Still working, ${at} seconds.`]);
        watch(step + 1);
      },
      (at - passed) * 1000,
    );
  }

  const context = (): PressContext => ({
    nowMs: options.now(),
    commands: conversation.commands(),
    quietMs: 0,
    viewer: { height: terminal.out.rows, layOut: () => [] },
  });

  /** Does what a key, or an answer, has led to. */
  function follow(before: ViewState, { view: next, effects }: Pressed): void {
    view = next;
    for (const effect of effects) void runEffect(effect, host); // It tells its own failures.
    tell(before);
    if (view.hint !== undefined && view.hint !== before.hint) say([view.hint.text]);
  }

  function pressed(chord: string): void {
    follow(view, press(view, { type: 'key', chord, text: '' }, context()));
  }

  function onLine(line: string): void {
    const draft = line === '/draft' ? drafts.take() : undefined;
    if (draft !== undefined) {
      view = { ...view, editor: draft };
      pressed('enter');
      drafts.save();
      return;
    }
    const answered = line === '/stop' ? 'stop' : answerLine(view, line, context());
    if (answered === 'stop') pressed('escape');
    else if (answered === 'again') say(askWords(view, drawing()));
    else if (answered !== 'message') follow(view, answered);
    else {
      // Words that were refused wait in the composer: enter alone sends them again.
      const triesAgain = line.trim() === '' && view.rest === 'failed';
      if (!triesAgain) view = { ...view, editor: edit(view.editor, { type: 'set-text', text: line }, options.now()) };
      pressed('enter');
      if (line.trim() === '') reader.prompt();
    }
    drafts.save();
  }

  const unsubscribe = conversation.agent.subscribe(onEvent);
  reader.on('line', onLine);
  reader.on('SIGINT', () => pressed('ctrl+c'));
  reader.on('close', () => goAway({ type: 'leave' }));
  const onKey = (_text: string, key: { readonly name?: string } | undefined) => {
    if (key?.name === 'escape') pressed('escape');
    drafts.save();
  };
  process.stdin.on('keypress', onKey);
  const warnings = [...conversation.info().warnings, ...(options.keyProblems ?? [])];
  write([options.why, ...bannerLines(conversation.info()).slice(0, 1), ...warnings, ''].join('\r\n'));
  say(['Type a message and press enter. /help lists commands, /stop stops what runs, /exit leaves.']);
  void drafts.recall().catch(() => undefined); // No draft is no reason not to begin.
  if (options.opens !== 'sessions') conversation.begin?.();
  if (options.prompt !== undefined) {
    write(`You: ${options.prompt}\r\n`);
    onLine(options.prompt);
  }
  return {
    left,
    close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(progress);
      unsubscribe();
      process.stdin.off('keypress', onKey);
      reader.close();
      write('\r\n');
    },
  };
}

/** Where a dialog of several parts stands. */
function stepOf({ attention }: ViewState): string {
  return attention.stage === 'armed' ? `${attention.form.question} ${attention.form.writing}` : '0 nothing';
}
