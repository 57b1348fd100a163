import { padToWidth, truncateEnd } from '@ouro-cli/ouro/commands';
import {
  ASCII_GLYPHS,
  type ColorDepth,
  createThemePaint,
  joinPrintable,
  PrintableText,
  type RenderContext,
  ScreenContext,
  UNICODE_GLYPHS,
  useScreenContext,
} from '@ouro-cli/ouro/screen';
import { Box, render } from 'ink';
import { createElement, memo } from 'react';

/** The content of the batch screen; all values are formatted. */
export type BatchScreenContent = {
  readonly id: string;
  readonly state: string;
  /** Share of finished tasks, from 0 to 1. */
  readonly share: number;
  readonly counts: string;
  /** Cost so far; `isNear`: close to the limit. */
  readonly cost: { readonly text: string; readonly isNear: boolean };
  /** Reasons why the batch is waiting. */
  readonly waitReasons: readonly string[];
  readonly running: readonly BatchTaskRow[];
  readonly failed: readonly BatchTaskRow[];
  /** Tasks completed last, newest first. */
  readonly done: readonly BatchTaskRow[];
};

/** One task on the batch screen: its title and its state. */
export type BatchTaskRow = { readonly title: string; readonly state: string };

type BatchScreenProps = { readonly content: BatchScreenContent; readonly rows: number };

const GAUGE_CELLS = 24;
/** Columns that stay free at the right edge, so that no terminal wraps. */
const EDGE_COLUMNS = 2;
const MAX_TITLE_COLUMNS = 28;

/** A running batch: progress, cost, reasons for waiting, running, failed and completed tasks. @internal */
export function BatchScreen({ content, rows }: BatchScreenProps) {
  const { context } = useScreenContext();
  const { waitReasons, running, failed, done } = content;
  const freeRows = Math.max(0, rows - 5 - waitReasons.length);
  // Failed tasks get up to a third of the rows before running ones; completed tasks get the rest.
  const shownFailed = failed.slice(0, Math.max(1, Math.floor(freeRows / 3)));
  const shownRunning = running.slice(0, Math.max(0, freeRows - shownFailed.length));
  const shownDone = done.slice(0, Math.max(0, freeRows - shownFailed.length - shownRunning.length));
  return (
    <Box flexDirection="column" width={Math.max(1, context.width - 1)}>
      <Head picture={content} />
      {waitReasons.map((reason) => (
        <WaitReason key={reason} words={reason} />
      ))}
      <Line sign=" " token="dim" text="" />
      {shownRunning.map((task) => (
        <Task key={task.title} task={task} sign={context.spinner} token="accent" />
      ))}
      {shownFailed.map((task) => (
        <Task key={task.title} task={task} sign={context.glyphs.failed} token="error" />
      ))}
      {shownDone.map((task) => (
        <Task key={task.title} task={task} sign={context.glyphs.done} token="ok" />
      ))}
      <Line sign=" " token="dim" text={formatFooter(content, shownRunning.length, shownFailed.length)} />
    </Box>
  );
}

function formatFooter({ running, failed }: BatchScreenContent, shownRunning: number, shownFailed: number): string {
  const hidden = running.length - shownRunning + failed.length - shownFailed;
  return `${hidden > 0 ? `${hidden} more   ` : ''}ctrl+c stops, the same command resumes`;
}

function Head({ picture }: { readonly picture: BatchScreenContent }) {
  const { context, paint } = useScreenContext();
  const { gauge, bar } = context.glyphs;
  const full = Math.round(picture.share * GAUGE_CELLS);
  const room = context.width - EDGE_COLUMNS;
  const counts = truncateEnd(picture.counts, Math.max(0, room - GAUGE_CELLS - 4));
  return (
    <>
      <PrintableText wrap="truncate">
        {paint(bar, { token: 'brand' })}
        {paint(` ${truncateEnd(picture.id, room - 14)}`, { token: 'text', bold: true })}
        {paint(`  ${picture.state}`, { token: picture.failed.length > 0 ? 'error' : 'dim' })}
      </PrintableText>
      <PrintableText wrap="truncate">
        {paint(`  ${gauge.full.repeat(full)}`, { token: 'brand' })}
        {paint(gauge.empty.repeat(GAUGE_CELLS - full), { token: 'dim' })}
        {paint(`  ${counts}`, undefined)}
      </PrintableText>
      <Line sign=" " token={picture.cost.isNear ? 'warn' : 'text'} text={picture.cost.text} />
    </>
  );
}

/** One reason for waiting, behind an amber bar. */
function WaitReason({ words: text }: { readonly words: string }) {
  const { context, paint } = useScreenContext();
  return (
    <PrintableText wrap="truncate">
      {paint(context.glyphs.bar, { token: 'warn' })}
      {paint(` ${truncateEnd(text, context.width - EDGE_COLUMNS - 2)}`, undefined)}
    </PrintableText>
  );
}

type LineProps = { readonly sign: string; readonly token: 'accent' | 'error' | 'ok' | 'dim' | 'warn' | 'text' };

/** One task; memoized, so that unchanged tasks are not laid out again. */
const Task = memo(function Task({ task, sign, token }: LineProps & { readonly task: BatchTaskRow }) {
  const { context, paint } = useScreenContext();
  const width = Math.min(MAX_TITLE_COLUMNS, Math.floor(context.width / 3));
  const title = padToWidth(truncateEnd(task.title, width), width);
  const state = truncateEnd(task.state, Math.max(0, context.width - EDGE_COLUMNS - width - 4));
  return (
    <PrintableText wrap="truncate">
      {paint(sign, { token })}
      {paint(` ${title}  `, undefined)}
      {paint(state || ' ', { token: 'dim' })}
    </PrintableText>
  );
});

function Line({ sign, token, text }: LineProps & { readonly text: string }) {
  const { context, paint } = useScreenContext();
  return (
    <PrintableText wrap="truncate">
      {joinPrintable([
        paint(`${sign} `, undefined),
        paint(truncateEnd(text, context.width - EDGE_COLUMNS) || ' ', { token }),
      ])}
    </PrintableText>
  );
}

/** The abilities of the terminal that the batch screen depends on. */
export type BatchScreenOptions = {
  readonly depth: ColorDepth;
  readonly background: 'dark' | 'light';
  readonly glyphs: 'unicode' | 'ascii';
};

export type BatchScreenHandle = { readonly show: (picture: BatchScreenContent) => void; readonly close: () => void };

/** Maximum number of frames per second; faster changes are unreadable. */
const MAX_FPS = 8;

/** Opens the batch screen below the existing output of the terminal. Closing removes it without a trace. */
export function openBatchScreen(stdout: NodeJS.WriteStream, options: BatchScreenOptions): BatchScreenHandle {
  const glyphs = options.glyphs === 'unicode' ? UNICODE_GLYPHS : ASCII_GLYPHS;
  const paint = createThemePaint({
    name: 'auto',
    customThemes: new Map(),
    background: options.background,
    depth: options.depth,
  });
  let frame = 0;

  function createScreenElement(content: BatchScreenContent) {
    const rows = stdout.rows ?? 24;
    frame += 1;
    const context: RenderContext = {
      width: stdout.columns ?? 80,
      rows,
      glyphs,
      nowMs: Date.now(),
      spinner: glyphs.spinner[frame % glyphs.spinner.length] ?? '',
      cwd: '',
      links: 'printed',
      markup: 'shown',
      highlight: undefined,
    };
    const screen = createElement(BatchScreen, { content, rows: rows - 1 });
    return createElement(ScreenContext, { value: { context, paint } }, screen);
  }

  let instance: ReturnType<typeof render> | undefined;
  return {
    show(picture) {
      const screen = createScreenElement(picture);
      if (instance === undefined)
        instance = render(screen, { stdout, exitOnCtrlC: false, patchConsole: false, maxFps: MAX_FPS });
      else instance.rerender(screen);
    },
    close() {
      instance?.clear();
      instance?.unmount();
    },
  };
}
