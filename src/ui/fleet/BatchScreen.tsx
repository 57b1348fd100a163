import { Box } from 'ink';
import { memo } from 'react';
import { joinPrinted } from '../../lib/printable.ts';
import { padWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { Painted } from '../text/Painted.tsx';
import { useLook } from '../text/use-look.ts';

/** A batch as it is shown: everything in words already. */
export type BatchPicture = {
  readonly id: string;
  readonly state: string;
  /** How much of it is settled, from 0 to 1. */
  readonly share: number;
  readonly counts: string;
  readonly money: { readonly words: string; readonly isNear: boolean };
  /** What it waits for. */
  readonly waits: readonly string[];
  readonly running: readonly TaskLine[];
  readonly failed: readonly TaskLine[];
  /** The last ones that are done, the newest first. */
  readonly done: readonly TaskLine[];
};

export type TaskLine = { readonly title: string; readonly words: string };

type BatchScreenProps = { readonly picture: BatchPicture; readonly rows: number };

const GAUGE_CELLS = 24;
/** The last column stays free, so that no terminal wraps. */
const EDGE = 2;
const MOST_TITLE = 28;

/** A batch while it works: how far it is, what it costs, what it waits for, what runs and what failed. */
export function BatchScreen({ picture, rows }: BatchScreenProps) {
  const { drawing } = useLook();
  const { waits, running, failed, done } = picture;
  const free = Math.max(0, rows - 5 - waits.length);
  // What failed is never pushed out by what runs, and what is done has what is left.
  const failures = failed.slice(0, Math.max(1, Math.floor(free / 3)));
  const runs = running.slice(0, Math.max(0, free - failures.length));
  const rest = done.slice(0, Math.max(0, free - failures.length - runs.length));
  return (
    <Box flexDirection="column" width={Math.max(1, drawing.width - 1)}>
      <Head picture={picture} />
      {waits.map((words) => (
        <Bar key={words} words={words} />
      ))}
      <Line sign=" " token="dim" text="" />
      {runs.map((task) => (
        <Task key={task.title} task={task} sign={drawing.spinner} token="accent" />
      ))}
      {failures.map((task) => (
        <Task key={task.title} task={task} sign={drawing.glyphs.failed} token="error" />
      ))}
      {rest.map((task) => (
        <Task key={task.title} task={task} sign={drawing.glyphs.done} token="ok" />
      ))}
      <Line sign=" " token="dim" text={footOf(picture, runs.length, failures.length)} />
    </Box>
  );
}

function footOf({ running, failed }: BatchPicture, runs: number, failures: number): string {
  const hidden = running.length - runs + failed.length - failures;
  return `${hidden > 0 ? `${hidden} more   ` : ''}ctrl+c stops here, and the same command goes on`;
}

function Head({ picture }: { readonly picture: BatchPicture }) {
  const { drawing, paint } = useLook();
  const { gauge, bar } = drawing.glyphs;
  const full = Math.round(picture.share * GAUGE_CELLS);
  const room = drawing.width - EDGE;
  const counts = truncateEnd(picture.counts, Math.max(0, room - GAUGE_CELLS - 4));
  return (
    <>
      <Painted wrap="truncate">
        {paint(bar, { token: 'brand' })}
        {paint(` ${truncateEnd(picture.id, room - 14)}`, { token: 'text', bold: true })}
        {paint(`  ${picture.state}`, { token: picture.failed.length > 0 ? 'error' : 'dim' })}
      </Painted>
      <Painted wrap="truncate">
        {paint(`  ${gauge.full.repeat(full)}`, { token: 'brand' })}
        {paint(gauge.empty.repeat(GAUGE_CELLS - full), { token: 'dim' })}
        {paint(`  ${counts}`, undefined)}
      </Painted>
      <Line sign=" " token={picture.money.isNear ? 'warn' : 'text'} text={picture.money.words} />
    </>
  );
}

/** Amber: somebody has to do something, or time has to pass. */
function Bar({ words }: { readonly words: string }) {
  const { drawing, paint } = useLook();
  return (
    <Painted wrap="truncate">
      {paint(drawing.glyphs.bar, { token: 'warn' })}
      {paint(` ${truncateEnd(words, drawing.width - EDGE - 2)}`, undefined)}
    </Painted>
  );
}

type Sign = { readonly sign: string; readonly token: 'accent' | 'error' | 'ok' | 'dim' | 'warn' | 'text' };

/** Tasks that stay as they are are not laid out again. */
const Task = memo(function Task({ task, sign, token }: Sign & { readonly task: TaskLine }) {
  const { drawing, paint } = useLook();
  const width = Math.min(MOST_TITLE, Math.floor(drawing.width / 3));
  const title = padWidth(truncateEnd(task.title, width), width);
  const words = truncateEnd(task.words, Math.max(0, drawing.width - EDGE - width - 4));
  return (
    <Painted wrap="truncate">
      {paint(sign, { token })}
      {paint(` ${title}  `, undefined)}
      {paint(words || ' ', { token: 'dim' })}
    </Painted>
  );
});

function Line({ sign, token, text }: Sign & { readonly text: string }) {
  const { drawing, paint } = useLook();
  return (
    <Painted wrap="truncate">
      {joinPrinted([paint(`${sign} `, undefined), paint(truncateEnd(text, drawing.width - EDGE) || ' ', { token })])}
    </Painted>
  );
}
