import type { AgentEvent } from '../../../../src/contracts/event.ts';
import type { CommandInfo } from '../../../../src/contracts/frontend/command.ts';
import { reduceView } from '../../../../src/ui/app-state/reduce-view.ts';
import {
  addHistoryItems,
  createViewState,
  type StatusLineFacts,
  type ViewState,
} from '../../../../src/ui/app-state/view-state.ts';
import { decodeInput, flushDecoder } from '../../../../src/ui/input/decode-input.ts';
import { applyElapsedTime, findNextTimedChangeMs, handleInput } from '../../../../src/ui/input/handle-input.ts';
import { type DecoderState, INITIAL_DECODER_STATE, type InputEvent } from '../../../../src/ui/input/input-event.ts';
import type { InputContext, UiEffect } from '../../../../src/ui/input/input-result.ts';

import type { ScreenOptions } from '../../../../src/ui/terminal/screen-options.ts';
import { createScreenOutput } from '../../../../src/ui/terminal/screen-output.ts';
import type { RenderContext } from '../../../../src/ui/text/render-context.ts';
import type { BannerContent } from '../../../../src/ui/widgets/history/history-item.ts';
import { pauseDialogKeysAfterResize } from '../../../../src/ui/widgets/permission-dialog/reduce-dialog.ts';
import { openViewer } from '../../../../src/ui/widgets/viewer/viewer-state.ts';
import { bytesOfKey } from '../../../support/terminal/key-bytes.ts';
import { createScreen, type ScreenSize, type TerminalScreen } from '../../../support/terminal/terminal-screen.ts';

/** A screen with a clock of its own, in front of a terminal buffer: events and keys in, rows out. */
export type StageScreen = TerminalScreen & {
  view(): ViewState;
  /** What keys asked the program to do, in order. */
  readonly effects: UiEffect[];
  emit(...events: readonly AgentEvent[]): void;
  press(...keys: readonly string[]): void;
  type(text: string): void;
  paste(text: string): void;
  /** Bytes as they come from a terminal. */
  send(bytes: string): void;
  /** The same where a sequence may be cut: its rest comes later. */
  receive(bytes: string): void;
  /** Lets time pass, as the clock of the program would. */
  wait(ms: number): void;
  change(update: (view: ViewState) => ViewState): void;
  drawing(): RenderContext;
  /** The layout of pages, for those who open one. */
  readonly viewer: InputContext['viewer'];
  /** Opens all of what is asked about on a page, as `v` does. */
  look(): void;
  loadColors(): Promise<void>;
  close(): void;
};

const COMMANDS: readonly CommandInfo[] = [
  { name: 'compact', description: 'make room now', argumentHint: '[what to keep]', source: 'builtin' },
  { name: 'context', description: 'where the tokens of the window go', source: 'builtin' },
  { name: 'cost', description: 'tokens and money of this session', source: 'builtin' },
  { name: 'deploy', description: 'build and put it on the server', source: 'project', completes: true },
  { name: 'model', description: 'choose another model', argumentHint: '[name]', source: 'builtin' },
];

/** What the clock of a screen begins with. */
export const START_MS = 1_000_000;

/** Opens a screen at rest, with its banner. */
export function openStage(size: ScreenSize, options: Partial<ScreenOptions> = {}): StageScreen {
  const screen = createScreen({ ...size, lineEnds: 'lf', tooWide: options.resizeMode });
  let nowMs = START_MS;
  let { cols, rows } = size;
  let undecoded: DecoderState = INITIAL_DECODER_STATE;
  let resized: (() => void)[] = [];
  const out = {
    get columns() {
      return cols;
    },
    get rows() {
      return rows;
    },
    write: (text: string) => screen.feed(text),
    on: (_event: 'resize', listener: () => void) => resized.push(listener),
    off: (_event: 'resize', listener: () => void) => {
      resized = resized.filter((one) => one !== listener);
    },
  };
  const effects: UiEffect[] = [];
  let view = addHistoryItems(createViewState(FACTS), { kind: 'banner', ...BANNER });
  const output = createScreenOutput(out, { ...OPTIONS, now: () => nowMs, ...options }, () => '/home/me/proj', put);
  const viewer = { height: rows, layOut: output.layoutPage };
  put();

  function context(): InputContext {
    return {
      nowMs,
      commands: COMMANDS,
      quietMs: 400,
      viewer: { ...viewer, height: rows },
      getQuestionVisibility: output.getQuestionVisibility,
    };
  }

  function put(): void {
    view = output.render(view);
  }

  function feed(bytes: string): void {
    receive(bytes);
    giveUp();
  }

  function receive(bytes: string): void {
    const decoded = decodeInput(undecoded, bytes);
    undecoded = decoded.state;
    act(decoded.events);
  }

  /** Nothing followed in time. */
  function giveUp(): void {
    if (undecoded.pending === '') return;
    const late = flushDecoder(undecoded);
    undecoded = late.state;
    act(late.events);
  }

  function act(events: readonly InputEvent[]): void {
    for (const event of events) {
      const pressed = handleInput(view, event, context());
      view = pressed.view;
      effects.push(...pressed.effects);
    }
    put();
  }

  return {
    ...screen,
    effects,
    viewer,
    view: () => view,
    emit(...events) {
      for (const event of events) view = reduceView(view, event, nowMs);
      put();
    },
    press(...keys) {
      for (const key of keys) feed(bytesOfKey(key));
    },
    type: feed,
    send: feed,
    receive,
    paste: (text) => feed(`\x1b[200~${text}\x1b[201~`),
    wait(ms) {
      const until = nowMs + ms;
      if (ms >= patienceMs(undecoded.pending)) giveUp();
      if (ms >= 200) undecoded = { pending: undecoded.pending, paste: undecoded.paste };
      while (nowMs < until) {
        nowMs = Math.min(until, findNextTimedChangeMs(view, context()) ?? until);
        view = applyElapsedTime(view, context());
        put();
      }
    },
    look() {
      const request = view.dialogRequests[0]?.kind === 'permission' ? view.dialogRequests[0].permission : undefined;
      if (request === undefined) return;
      const page = { kind: 'request', request } as const;
      const laid = output.layoutPage(page, { thinking: 'hidden', outputs: 'folded' });
      view = { ...view, overlay: { kind: 'viewer', viewer: openViewer(request.toolName, page, laid, rows) } };
      put();
    },
    change(update) {
      view = update(view);
      put();
    },
    resize(to) {
      view = pauseDialogKeysAfterResize(view, nowMs);
      screen.resize(to);
      cols = to.cols;
      rows = to.rows;
      for (const listener of resized) listener();
    },
    drawing: output.getDrawing,
    loadColors: output.loadHighlighting,
    close: () => output.close(),
  };
}

const FACTS: StatusLineFacts = {
  mode: 'default',
  model: 'sonnet 5.5',
  contextTokens: 6_000,
  contextWindow: 1_000_000,
  costUsd: 0.12,
  branch: 'main',
  changedLines: { added: 0, removed: 0 },
  backgroundTasks: 0,
  isDemo: false,
};

const BANNER: BannerContent = {
  version: '0.1.0',
  model: 'sonnet 5.5',
  window: '1M',
  folder: '~/proj',
  branch: 'main',
  configuration: ['CLAUDE.md', '2 MCP servers', 'trusted'],
};

const OPTIONS: ScreenOptions = {
  depth: 'truecolor',
  background: 'dark',
  theme: 'auto',
  glyphs: 'unicode',
  ambiguousWidth: 'known',
  motion: 'full',
  proseWrap: 'words',
  links: 'printed',
  banner: 'shown',
  title: 'off',
  notify: 'off',
  progress: 'off',
  dialogDelayMs: 400,
  prompt: undefined,
  editor: undefined,
  now: () => START_MS,
};

/** As long as the keyboard waits for the rest of a sequence. */
function patienceMs(rest: string): number {
  if (rest === '\u001b') return 15;
  return rest.length === 2 ? 40 : 1_000;
}
