import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { ANTHROPIC_DIALECT } from './anthropic-dialect.ts';
import type { Dialect, RequestBody, SeenRequest } from './dialect.ts';
import { playTurn, type ReplyTarget, sendJson } from './play-turn.ts';
import { type ApiTurn, promptTooLong, says, status } from './reply.ts';
import { isDict } from './values.ts';

export type ApiServer = {
  readonly url: string;
  /** Requests for replies of the main model, in order. */
  requests(): readonly SeenRequest[];
  /** Side requests: those the `side` part of the script answered. */
  sideRequests(): readonly SeenRequest[];
  all(): readonly SeenRequest[];
  /** Resolves once the n-th main request (from 1) is there. */
  waitForRequest(n: number): Promise<SeenRequest>;
  /** Resolves once the socket of the n-th main request (from 1) is closed, with the time. */
  waitForSocketClosed(n: number): Promise<number>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type Script = {
  readonly turns: readonly ApiTurn[] | ((request: SeenRequest, index: number) => ApiTurn | undefined);
  /**
   * Answers requests that do not belong to the conversation (titles, summaries); `undefined` leaves them to `turns`.
   * Without it, short ones to the small model are answered with nothing.
   */
  readonly side?: (request: SeenRequest) => ApiTurn | undefined;
  /** The response after the end of the script. */
  readonly after?: ApiTurn;
  /** The only key that is taken; without it every key is. */
  readonly apiKey?: string;
  /** A request with more tokens, four characters each, is told that its prompt is too long. */
  readonly contextWindowTokens?: number;
  /** The number of requests that are remembered, for runs of thousands; without it all are. */
  readonly remembered?: number;
};

/** A real HTTP server on loopback that speaks the Messages API, remembers every request and refuses malformed ones. */
export function startApiServer(script: Script): Promise<ApiServer> {
  return startServer(script, ANTHROPIC_DIALECT);
}

/** The scripted server for any dialect. */
export async function startServer(script: Script, dialect: Dialect): Promise<ApiServer> {
  const main: SeenRequest[] = [];
  const side: SeenRequest[] = [];
  const all: SeenRequest[] = [];
  const thoughts = new Map<string, string>();
  const thoughtfulCalls = new Set<string>();
  let paused: readonly unknown[] = [];
  const closings = new WeakMap<Socket, Promise<number>>();
  let waiting: (() => void)[] = [];
  const counts = { all: 0, main: 0 };

  function answerTo(request: SeenRequest): ApiTurn {
    const aside = script.side === undefined ? quietly(request) : script.side(request);
    remember(aside === undefined ? main : side, request);
    // Refused requests count: the index is that of `requests()`.
    if (aside === undefined) counts.main += 1;
    const index = counts.main - 1;
    for (const wake of waiting) wake();
    waiting = [];
    const refusal = dialect.refusedCredentials(request.headers, script.apiKey, request);
    if (refusal !== undefined) return status(401, refusal);
    if (request.violation !== undefined) return status(400, request.violation);
    const tokens = Math.ceil(request.raw.length / 4);
    const limit = script.contextWindowTokens;
    if (limit !== undefined && tokens > limit) return promptTooLong(tokens, limit);
    if (aside !== undefined) return aside;
    const turn = typeof script.turns === 'function' ? script.turns(request, index) : script.turns[index];
    return turn ?? script.after ?? says('done');
  }

  function remember(requests: SeenRequest[], request: SeenRequest): void {
    requests.push(request);
    if (script.remembered !== undefined && requests.length > script.remembered) requests.shift();
  }

  /** Remembers what a client will have to bring back. */
  function issue(turn: ApiTurn): void {
    if (turn.kind === 'later') issue(turn.turn);
    if (turn.kind !== 'reply') return;
    if (turn.stop === 'pause_turn') paused = turn.blocks;
    const isThoughtful = turn.blocks[0]?.type === 'thinking' || turn.blocks[0]?.type === 'redacted_thinking';
    for (const { type, id, thinking, signature } of turn.blocks) {
      if (type === 'thinking') thoughts.set(String(signature), String(thinking));
      if (type === 'tool_use' && isThoughtful) thoughtfulCalls.add(String(id));
    }
  }

  async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedAtMs = performance.now();
    const closed = closings.get(incoming.socket) ?? closingOf(incoming.socket);
    closings.set(incoming.socket, closed);
    response.on('error', () => undefined);
    const raw = await readText(incoming).catch(() => undefined);
    if (raw === undefined) return;
    const { method = '', url: path = '', headers } = incoming;
    const isConversation = dialect.isConversation(method, path);
    const parsed = parse(raw);
    const body = (isConversation && dialect.read?.(path, parsed)) || parsed;
    const violation = isConversation
      ? dialect.violationOf(body, headers, { thoughts, thoughtfulCalls, paused })
      : undefined;
    const request: SeenRequest = { method, path, headers, raw, body, violation, arrivedAtMs, closed };
    remember(all, request);
    counts.all += 1;
    const stage: ReplyTarget = { response, dialect, body, id: `msg_${String(counts.all).padStart(4, '0')}` };
    if (!isConversation) return answerLookUp(stage, request);
    const turn = answerTo(request);
    issue(turn);
    await playTurn(turn, stage);
  }

  const server = createServer((incoming, response) => void take(incoming, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  async function waitForRequest(n: number): Promise<SeenRequest> {
    for (;;) {
      const found = main[n - 1];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    }
  }

  async function close(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => main,
    sideRequests: () => side,
    all: () => all,
    waitForRequest,
    waitForSocketClosed: async (n) => (await waitForRequest(n)).closed,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Requests for texts on the screen (titles, summaries of calls) get no answer unless the script has one. */
function quietly({ body }: SeenRequest): ApiTurn | undefined {
  const isSmall = typeof body.model === 'string' && body.model.includes('haiku') && body.tools === undefined;
  return isSmall && typeof body.max_tokens === 'number' && body.max_tokens <= 1024 ? says('') : undefined;
}

function closingOf(socket: Socket): Promise<number> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('close', () => resolve(performance.now()));
  });
}

function answerLookUp(stage: ReplyTarget, { method, path, raw }: SeenRequest): void {
  const found = stage.dialect.lookUp(method, path, raw);
  const refusal = { status: 404, type: 'not_found_error', message: `Not found: ${path}` };
  if (found === undefined) sendJson(stage, 404, stage.dialect.errorBody(refusal, `req_${stage.id}`));
  else sendJson(stage, 200, found);
}

function parse(raw: string): RequestBody {
  try {
    const value: unknown = JSON.parse(raw);
    return isDict(value) ? value : {};
  } catch {
    return {};
  }
}

/** Creates a promise that streams wait for until the test opens it. */
export function gate(): { readonly closed: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { closed: promise, open: () => resolve() };
}
