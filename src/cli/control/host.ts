import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { messageOf } from '../../lib/errors.ts';
import { Unsupported } from './handler.ts';
import { HANDLERS } from './handlers/table.ts';
import type { HostRun } from './host-run.ts';
import { createHostServers } from './host-servers.ts';
import { initializeAnswer, withInitialize } from './initialize.ts';
import { type ControlRequest, type LineIn, type ReadLine, readLine } from './line-in.ts';
import type { Outbox } from './outbox.ts';
import type { NumberedLine } from './read-lines.ts';

export type Opened =
  | { readonly ok: true; readonly conversation: Conversation; readonly run: HostRun }
  | { readonly ok: false; readonly problem: string };

export type HostPort = {
  /** Makes the conversation; called once, by the first line that needs it. */
  readonly open: (options: RunOptions) => Promise<Opened>;
  readonly outbox: Outbox;
  readonly write: (line: JsonObject) => void;
  readonly warn: (text: string) => void;
  readonly pid: number;
};

/** Our side of the control protocol. */
export type Host = {
  /** Reads to the end and answers with the exit code. */
  serve(lines: AsyncIterable<NumberedLine>): Promise<number>;
  idle(): Promise<void>;
  endedWell(): boolean;
};

export function createHost(options: RunOptions, port: HostPort): Host {
  const { outbox, write, warn } = port;
  const servers = createHostServers(outbox);
  let opening: Promise<Opened> | undefined;
  let run: HostRun | undefined;
  let failed = false;
  let agreed: string | undefined;
  const { promise: brokenDown, resolve: breakDown } = Promise.withResolvers<void>();
  /** Requests and user lines take effect in the order they came; answers to our own questions never wait. */
  let tail: Promise<void> = Promise.resolve();

  async function opened(wanted: RunOptions): Promise<Extract<Opened, { ok: true }>> {
    opening ??= port.open(wanted);
    const result = await opening;
    if (!result.ok) {
      if (!failed) warn(result.problem);
      failed = true;
      breakDown();
      throw new Error(result.problem);
    }
    run = result.run;
    return result;
  }

  /** What keeps a conversation from opening is told where it fails. */
  async function openedQuietly(): Promise<void> {
    await opened(options).catch(() => undefined);
  }

  function respond(id: string, response: JsonObject): void {
    write({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
  }

  function refuse(id: string, error: string): void {
    write({ type: 'control_response', response: { subtype: 'error', request_id: id, error } });
  }

  async function answer({ request_id: id, request }: ControlRequest): Promise<void> {
    const { subtype } = request;
    try {
      if (subtype === 'initialize') {
        if (opening !== undefined) {
          // Said twice by a host that has lost its place. Anything new would be agreed to and not be done.
          if (agreed !== JSON.stringify(request))
            throw new Error('The conversation is open already: initialize comes first.');
          return respond(id, initializeAnswer((await opened(options)).conversation, port.pid));
        }
        const wanted = withInitialize(options, request, outbox, servers);
        agreed = JSON.stringify(request);
        const { conversation } = await opened(wanted);
        if (typeof request.title === 'string' && request.title.trim() !== '') await conversation.rename(request.title);
        return respond(id, initializeAnswer(conversation, port.pid));
      }
      const handle = HANDLERS.get(subtype);
      if (handle === undefined) return refuse(id, `unsupported: ${subtype}`);
      const { conversation, run: talk } = await opened(options);
      respond(id, await handle(request, { conversation, servers, ids: talk.ids }));
    } catch (thrown) {
      refuse(id, thrown instanceof Unsupported ? `unsupported: ${subtype}` : messageOf(thrown));
    }
  }

  function take(line: LineIn | { readonly type: 'other' }): void {
    switch (line.type) {
      case 'control_response':
        outbox.settle(line.response);
        return;
      case 'control_request':
        // The one request that must not wait behind others.
        if (line.request.subtype === 'interrupt') {
          interrupt(line.request_id, line.request.cancel_queued === true ? 'dropped' : 'kept');
          return;
        }
        tail = tail.then(() => answer(line));
        return;
      case 'user':
        tail = tail.then(async () => {
          try {
            await (await opened(options)).run.hear(line);
          } catch (thrown) {
            if (!failed) warn(messageOf(thrown));
          }
        });
        return;
      default:
    }
  }

  function tellBadLine(number: number, { why, of, asks }: Extract<ReadLine, { ok: false }>): void {
    const error = `Line ${number} ${why}`;
    if (asks !== undefined) {
      refuse(asks, error);
      return;
    }
    const line = { type: 'system', subtype: 'input_error', line: number, error };
    // Behind what stood before it; only an open conversation can put its name to it.
    tail = tail.then(async () => {
      // Whoever says something waits for a result, also when nobody could understand it.
      if (of === 'user') await openedQuietly();
      if (run === undefined) write(line);
      else run.tell(line);
      if (of === 'user') await run?.refuse(error);
    });
  }

  function interrupt(id: string, waiting: 'kept' | 'dropped'): void {
    const stop = () => {
      if (run === undefined) respond(id, { still_queued: [] });
      else run.interrupt(waiting, (receipt) => respond(id, receipt));
    };
    if (run?.isRunning() === true) {
      stop();
      return;
    }
    // A command may be making room between two runs, and what is behind it waits for its end.
    run?.stopCommand();
    // A run that is only about to start is stopped once it has.
    tail = tail.then(stop);
  }

  async function read(lines: AsyncIterable<NumberedLine>): Promise<number> {
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
  }

  function unreadable(thrown: unknown): number {
    warn(`stdin could not be read: ${messageOf(thrown)}`);
    return 1;
  }

  return {
    async serve(lines) {
      // Without a conversation there is nothing to wait for, whatever may still come in.
      const code = await Promise.race([read(lines).catch(unreadable), brokenDown.then(() => 1)]);
      outbox.close();
      await tail;
      await run?.idle();
      return failed ? 1 : code;
    },
    endedWell: () => run?.endedWell() ?? true,
    async idle() {
      await tail;
      await run?.idle();
    },
  };
}
