import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { eventsOf, messageOf } from './events.ts';
import { type ApiReply, type ApiTurn, says, status } from './reply.ts';
import { violationOf } from './validate-request.ts';

/** One request as it arrived. */
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly body: RequestBody;
  /** What the structural rules said against it, if anything. */
  readonly violation: string | undefined;
  /** Resolves when its socket is closed. */
  readonly closed: Promise<void>;
};

export type RequestBody = {
  readonly model?: string;
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly [key: string]: unknown;
};

export type ApiServer = {
  readonly url: string;
  /** Requests for replies of the main model, in order. */
  requests(): readonly SeenRequest[];
  /** Side requests: those the `side` part of the script answered. */
  sideRequests(): readonly SeenRequest[];
  all(): readonly SeenRequest[];
  /** Resolves once the n-th main request (from 1) is there. */
  waitForRequest(n: number): Promise<SeenRequest>;
  close(): Promise<void>;
};

export type Script = {
  readonly turns: readonly ApiTurn[] | ((request: SeenRequest, index: number) => ApiTurn | undefined);
  /** Answers requests that do not belong to the conversation (titles, summaries); `undefined` leaves them to `turns`. */
  readonly side?: (request: SeenRequest) => ApiTurn | undefined;
  /** What is said once the script is used up. */
  readonly after?: ApiTurn;
};

/** A real HTTP server on loopback that speaks the Messages API, remembers every request and refuses malformed ones. */
export async function startApiServer(script: Script): Promise<ApiServer> {
  const main: SeenRequest[] = [];
  const side: SeenRequest[] = [];
  const all: SeenRequest[] = [];
  let waiting: (() => void)[] = [];
  const signatures = new Set<string>();

  function answerFor(request: SeenRequest): ApiTurn {
    const aside = script.side?.(request);
    if (aside !== undefined) {
      side.push(request);
      return aside;
    }
    main.push(request);
    for (const wake of waiting) wake();
    waiting = [];
    if (request.violation !== undefined) return status(400, request.violation);
    const index = main.length - 1;
    const turn = typeof script.turns === 'function' ? script.turns(request, index) : script.turns[index];
    return turn ?? script.after ?? says('done');
  }

  const server = createServer(async (incoming, response) => {
    incoming.socket.on('error', () => undefined);
    response.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => incoming.socket.once('close', () => resolve()));
    const raw = await readText(incoming).catch(() => '');
    const path = incoming.url ?? '';
    const body = parse(raw);
    const counted = path.endsWith('/count_tokens');
    const checked = path.startsWith('/v1/messages') && !counted;
    const violation = checked ? violationOf(body, incoming.headers, signatures) : undefined;
    const request: SeenRequest = {
      method: incoming.method ?? '',
      path,
      headers: incoming.headers,
      raw,
      body,
      violation,
      closed,
    };
    all.push(request);
    if (counted) return void sendJson(response, 200, { input_tokens: Math.ceil(raw.length / 4) });
    if (!checked)
      return void sendJson(response, 404, {
        type: 'error',
        error: { type: 'not_found_error', message: `Not found: ${path}` },
      });
    const turn = answerFor(request);
    if (turn.kind === 'reply')
      for (const block of turn.blocks) if (typeof block.signature === 'string') signatures.add(block.signature);
    await play(turn, response, body, `msg_${String(all.length).padStart(4, '0')}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => main,
    sideRequests: () => side,
    all: () => all,
    async waitForRequest(n) {
      while (main.length < n) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
      }
      const found = main[n - 1];
      if (found === undefined) throw new Error('The request vanished.');
      return found;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function play(turn: ApiTurn, response: ServerResponse, body: RequestBody, id: string): Promise<void> {
  const requestId = { 'request-id': `req_${id}` };
  switch (turn.kind) {
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'hang':
      return;
    case 'raw':
      response.writeHead(turn.status, { 'content-type': turn.contentType, ...requestId }).end(turn.body);
      return;
    case 'error':
      sendJson(
        response,
        turn.status,
        { type: 'error', error: { type: turn.type, message: turn.message }, request_id: requestId['request-id'] },
        { ...requestId, ...turn.headers },
      );
      return;
    case 'reply':
      if (body.stream === true) await stream(turn, response, String(body.model), id);
      else sendJson(response, 200, messageOf(turn, id, String(body.model)), requestId);
      return;
    default:
      throw new Error('Unknown turn');
  }
}

async function stream(reply: ApiReply, response: ServerResponse, model: string, id: string): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'request-id': `req_${id}`,
  });
  const events = eventsOf(reply, id, model);
  for (const [at, event] of [...events, undefined].entries()) {
    for (const fault of reply.faults.filter((one) => one.at === at)) {
      if (fault.do === 'cut') return void response.socket?.destroy();
      if (fault.do === 'end') return void response.end();
      if (fault.do === 'keep-open') continue;
      if (fault.do === 'send') send(response, fault.event, fault.data);
      if (fault.do === 'wait') await waitFor(fault.until, fault.pings, response);
    }
    if (response.destroyed) return;
    if (event !== undefined) send(response, event.event, event.data);
  }
  if (!reply.faults.some((fault) => fault.do === 'keep-open')) response.end();
}

async function waitFor(until: Promise<unknown>, pings: 'pings' | 'silence', response: ServerResponse): Promise<void> {
  const timer = pings === 'pings' ? setInterval(() => send(response, 'ping', { type: 'ping' }), 20) : undefined;
  const gone = new Promise((resolve) => response.once('close', resolve));
  await Promise.race([until, gone]);
  clearInterval(timer);
}

function send(response: ServerResponse, event: string, data: unknown): void {
  if (!response.destroyed) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

function sendJson(
  response: ServerResponse,
  code: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function parse(raw: string): RequestBody {
  try {
    return JSON.parse(raw);
  } catch {
    return {};
  }
}

/** A promise and the key to it: streams wait at it until the test lets them go on. */
export function gate(): { readonly closed: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { closed, open };
}
