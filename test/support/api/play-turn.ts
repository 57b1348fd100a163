import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Dialect, RequestBody } from './dialect.ts';
import type { ApiReply, ApiTurn, StreamFault } from './reply.ts';

const CUT_DELAY_MS = 15;

/** The response that is written, and its dialect. */
export type ReplyTarget = {
  readonly response: ServerResponse;
  readonly dialect: Dialect;
  readonly body: RequestBody;
  readonly id: string;
};

/** Plays one turn of the script with its faults. */
export async function playTurn(turn: ApiTurn, stage: ReplyTarget): Promise<void> {
  const { response, dialect, id } = stage;
  switch (turn.kind) {
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'hang':
      return;
    case 'later':
      await Promise.race([typeof turn.until === 'number' ? wait(turn.until) : turn.until, closing(response)]);
      if (!response.destroyed) await playTurn(turn.turn, stage);
      return;
    case 'raw':
      response.writeHead(turn.status, { ...headersOf(id), 'content-type': turn.contentType }).end(turn.body);
      return;
    case 'error':
      sendJson(stage, turn.status, dialect.errorBody(turn, `req_${id}`), turn.headers);
      return;
    case 'reply':
      if (stage.body.stream === true) await stream(turn, stage);
      else sendJson(stage, 200, dialect.messageOf(turn, id, stage.body));
      return;
    default:
      throw new Error('The script has a turn of no known kind.');
  }
}

export function sendJson(
  { response, id }: ReplyTarget,
  code: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(code, { ...headersOf(id), 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body));
}

async function stream(reply: ApiReply, stage: ReplyTarget): Promise<void> {
  const { response, dialect } = stage;
  response.writeHead(200, {
    ...headersOf(stage.id),
    'content-type': dialect.contentType ?? 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
  const events = dialect.eventsOf(reply, stage.id, stage.body);
  const names = events.map(({ event }) => event);
  const faults = reply.faults.map((fault) => ({ ...fault, at: positionOf(fault.at, names) }));
  for (const [at, event] of [...events, undefined].entries()) {
    for (const fault of faults.filter((one) => one.at === at)) {
      if ((await suffer(fault, stage)) === 'over') return;
    }
    if (response.destroyed) return;
    if (event === undefined) break;
    if (reply.delayMs > 0) await Promise.race([wait(reply.delayMs), closing(response)]);
    response.write(dialect.frame(event));
  }
  if (!faults.some((fault) => fault.do === 'keep-open')) response.end();
}

/** A number counts events, a name means right before the first event of that name. */
function positionOf(at: number | string, names: readonly string[]): number {
  if (typeof at === 'number') return at;
  const found = names.indexOf(at);
  if (found === -1) throw new Error(`No event ${at} in this reply, only ${names.join(', ')}.`);
  return found;
}

async function suffer(fault: StreamFault, { response, dialect }: ReplyTarget): Promise<'over' | 'goes on'> {
  switch (fault.do) {
    case 'cut':
      // A client may drop what it has not read when the socket breaks. Who must be sure lets it wait at a gate first.
      await Promise.race([wait(CUT_DELAY_MS), closing(response)]);
      response.socket?.destroy();
      return 'over';
    case 'end':
      response.end();
      return 'over';
    case 'keep-open':
      return 'goes on';
    case 'send':
      response.write(dialect.frame(fault));
      return 'goes on';
    case 'write':
      response.write(fault.text);
      return 'goes on';
    case 'wait': {
      const ping = () => void response.write(dialect.ping);
      const timer = fault.pings === 'pings' ? setInterval(ping, 20) : undefined;
      await Promise.race([fault.until, closing(response)]);
      clearInterval(timer);
      return response.destroyed ? 'over' : 'goes on';
    }
    default:
      throw new Error('The script has a fault of no known kind.');
  }
}

const closings = new WeakMap<ServerResponse, Promise<void>>();

/** One listener for each response, however often it is asked. */
function closing(response: ServerResponse): Promise<void> {
  const known = closings.get(response);
  if (known !== undefined) return known;
  const closed = new Promise<void>((resolve) => {
    response.once('close', () => resolve());
  });
  closings.set(response, closed);
  return closed;
}

function headersOf(id: string): Readonly<Record<string, string>> {
  return {
    'request-id': `req_${id}`,
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': '2030-01-01T00:00:00Z',
  };
}
