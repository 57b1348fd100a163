import { randomUUID } from 'node:crypto';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import { messageOf } from '../../lib/errors.ts';
import { neverBegan } from '../wire/result.ts';
import { type LineIn, type ReadLine, readLine, type UserLine } from './line-in.ts';
import { createOpening, type Opened } from './opening.ts';
import type { NumberedLine } from './read-lines.ts';
import { createRequests, type RequestsPort } from './requests.ts';

type BadLine = Extract<ReadLine, { ok: false }>;

export type HostPort = RequestsPort & {
  /** Makes the conversation; called once, by the first line that needs it. */
  readonly open: (options: RunOptions) => Promise<Opened>;
};

/** Our side of the control protocol. */
export type Host = {
  /** Reads to the end and answers with the exit code. */
  serve(lines: AsyncIterable<NumberedLine>): Promise<number>;
  idle(): Promise<void>;
  endedWell(): boolean;
};

const BEAT_MS = 1_500;

export function createHost(options: RunOptions, port: HostPort): Host {
  const { outbox, write, warn } = port;
  const opening = createOpening(port.open, warn);
  const requests = createRequests(options, opening, port);
  /** Requests and user lines take effect in the order they came; answers to our own questions never wait. */
  let tail: Promise<void> = Promise.resolve();
  const inTurn = (act: () => Promise<void> | void) => {
    tail = tail.then(act);
  };

  function take(line: LineIn | { readonly type: 'other' }): void {
    switch (line.type) {
      case 'control_response':
        outbox.settle(line.response);
        return;
      case 'control_request':
        // The one request that must not wait behind others.
        if (line.request.subtype === 'interrupt') requests.interrupt(line, inTurn);
        else inTurn(() => requests.answer(line));
        return;
      case 'user':
        inTurn(() => hear(line));
        return;
      default:
    }
  }

  async function hear(line: UserLine): Promise<void> {
    const refusal = requests.refusal();
    if (refusal !== undefined) return write(neverBegan(refusal, randomUUID));
    try {
      await (await opening.opened(options)).run.hear(line);
    } catch (thrown) {
      // Whoever says something waits for a result.
      if (opening.hasFailed()) write(neverBegan(messageOf(thrown), randomUUID));
      else warn(messageOf(thrown));
    }
  }

  function tellBadLine(number: number, { why, of, asks }: BadLine): void {
    const error = `Line ${number} ${why}`;
    if (asks !== undefined) {
      requests.refuse(asks, error);
      return;
    }
    const line = { type: 'system', subtype: 'input_error', line: number, error };
    // Behind what stood before it; only an open conversation can put its name to it.
    inTurn(async () => {
      // Whoever says something waits for a result, also when nobody could understand it.
      if (of === 'user') await opening.opened(options).catch(() => undefined); // What failed is said where it fails.
      const run = opening.run();
      if (run === undefined) write(line);
      else run.writeLine(line);
      if (of === 'user') await run?.refuse(error);
    });
  }

  async function idle(): Promise<void> {
    await tail;
    await opening.run()?.idle();
  }

  return {
    async serve(lines) {
      const reading = readAll(lines, take, tellBadLine, warn);
      // Without a conversation there is nothing to wait for, whatever may still come in.
      const code = await Promise.race([reading, opening.failed.then(() => 1)]);
      outbox.close();
      // What nobody reads any more ends: only writing tells that the reader has gone.
      const beat = setInterval(() => write({ type: 'keep_alive' }), BEAT_MS);
      await idle().finally(() => clearInterval(beat));
      return opening.hasFailed() ? 1 : code;
    },
    endedWell: () => opening.run()?.endedWell() ?? true,
    idle,
  };
}

/** Reads to the end; the exit code is 1 where it could not, or where the first line is from no host. */
async function readAll(
  lines: AsyncIterable<NumberedLine>,
  take: (line: LineIn | { readonly type: 'other' }) => void,
  tellBadLine: (number: number, line: BadLine) => void,
  warn: (text: string) => void,
): Promise<number> {
  try {
    for await (const { number, text } of lines) {
      const line = readLine(text);
      if (line.ok) {
        take(line.line);
        continue;
      }
      warn(`Line ${number} of stdin ${line.why}`);
      if (number === 1 && line.of === undefined) return 1;
      tellBadLine(number, line);
    }
    return 0;
  } catch (thrown) {
    warn(`stdin could not be read: ${messageOf(thrown)}`);
    return 1;
  }
}
