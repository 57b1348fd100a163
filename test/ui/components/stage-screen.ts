import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { CommandInfo } from '../../../src/contracts/face/command.ts';
import { decodeInput, decodeLate } from '../../../src/ui/keys/decode-input.ts';
import { type InputEvent, NOTHING_UNDECODED, type Undecoded } from '../../../src/ui/keys/input-event.ts';
import type { Effect } from '../../../src/ui/press/effects.ts';
import { nextChange, passTime, press } from '../../../src/ui/press/press.ts';
import type { PressContext } from '../../../src/ui/press/press-context.ts';
import type { ScreenOptions } from '../../../src/ui/terminal/screen-options.ts';
import { createScreenOutput } from '../../../src/ui/terminal/screen-output.ts';
import type { Drawing } from '../../../src/ui/text/drawing.ts';
import { reduceView } from '../../../src/ui/view/reduce-view.ts';
import { resizeWindow } from '../../../src/ui/view/slice-asks.ts';
import { initialView, printing, type ViewState } from '../../../src/ui/view/view-state.ts';
import { openViewer } from '../../../src/ui/view/viewer-state.ts';
import { bytesOfKey } from '../../support/terminal/key-bytes.ts';
import { createScreen, type ScreenSize, type TerminalScreen } from '../../support/terminal/terminal-screen.ts';

/** A screen with a clock of its own, in front of a terminal buffer: events and keys in, rows out. */
export type StageScreen = TerminalScreen & {
  view(): ViewState;
  /** What keys asked the program to do, in order. */
  readonly effects: Effect[];
  tell(...events: readonly AgentEvent[]): void;
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
  drawing(): Drawing;
  /** The layout of pages, for those who open one. */
  readonly viewer: PressContext['viewer'];
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
  const screen = createScreen({ ...size, lineEnds: 'lf', tooWide: options.tooWide });
  let nowMs = START_MS;
  let { cols, rows } = size;
  let undecoded: Undecoded = NOTHING_UNDECODED;
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
  const effects: Effect[] = [];
  let view = printing(initialView(FACTS), { kind: 'banner', ...BANNER });
  const output = createScreenOutput(out, { ...OPTIONS, now: () => nowMs, ...options }, () => '/home/me/proj', put);
  const viewer = { height: rows, layOut: output.layOut };
  put();

  function context(): PressContext {
    return { nowMs, commands: COMMANDS, quietMs: 400, viewer: { ...viewer, height: rows }, inSight: output.inSight };
  }

  function put(): void {
    view = output.put(view);
  }

  function hear(bytes: string): void {
    receive(bytes);
    giveUp();
  }

  function receive(bytes: string): void {
    const decoded = decodeInput(undecoded, bytes);
    undecoded = decoded.undecoded;
    act(decoded.events);
  }

  /** Nothing followed in time. */
  function giveUp(): void {
    if (undecoded.rest === '') return;
    const late = decodeLate(undecoded);
    undecoded = late.undecoded;
    act(late.events);
  }

  function act(events: readonly InputEvent[]): void {
    for (const event of events) {
      const pressed = press(view, event, context());
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
    tell(...events) {
      for (const event of events) view = reduceView(view, event, nowMs);
      put();
    },
    press(...keys) {
      for (const key of keys) hear(bytesOfKey(key));
    },
    type: hear,
    send: hear,
    receive,
    paste: (text) => hear(`\x1b[200~${text}\x1b[201~`),
    wait(ms) {
      const until = nowMs + ms;
      if (ms >= patienceMs(undecoded.rest)) giveUp();
      if (ms >= 200) undecoded = { rest: undecoded.rest, paste: undecoded.paste };
      while (nowMs < until) {
        nowMs = Math.min(until, nextChange(view, context()) ?? until);
        view = passTime(view, context());
        put();
      }
    },
    look() {
      const request = view.asks[0]?.kind === 'permission' ? view.asks[0].request : undefined;
      if (request === undefined) return;
      const page = { kind: 'request', request } as const;
      const laid = output.layOut(page, { thinking: 'hidden', bodies: 'folded' });
      view = { ...view, overlay: { kind: 'viewer', viewer: openViewer(request.toolName, page, laid, rows) } };
      put();
    },
    change(update) {
      view = update(view);
      put();
    },
    resize(to) {
      view = resizeWindow(view, nowMs);
      screen.resize(to);
      cols = to.cols;
      rows = to.rows;
      for (const listener of resized) listener();
    },
    drawing: output.drawing,
    loadColors: output.loadColors,
    close: () => output.close(),
  };
}

const FACTS = {
  mode: 'default',
  model: 'sonnet 5.5',
  contextTokens: 6_000,
  contextWindow: 1_000_000,
  costUsd: 0.12,
  branch: 'main',
  changed: { added: 0, removed: 0 },
  background: 0,
  isDemo: false,
} as const;

const BANNER = {
  version: '0.1.0',
  model: 'sonnet 5.5',
  window: '1M',
  folder: '~/proj',
  branch: 'main',
  effects: ['CLAUDE.md', '2 MCP servers', 'trusted'],
};

const OPTIONS: ScreenOptions = {
  depth: 'truecolor',
  background: 'dark',
  theme: 'auto',
  glyphs: 'unicode',
  signWidth: 'known',
  motion: 'full',
  prose: 'words',
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
