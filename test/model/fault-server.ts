import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What one request brought, and the promise that its socket is gone. */
type SeenRequest = {
  readonly path: string;
  readonly fromPort: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly closed: Promise<unknown>;
};

/** How one request is answered. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A real HTTP server on loopback that answers the n-th request with the n-th answer, the last one for ever. */
export async function startFaultServer(...answers: readonly Answer[]) {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(seen.length, answers.length - 1)];
    // A reset is an error first and a close right after; only the close counts here.
    request.socket.on('error', () => undefined);
    const closed = new Promise((resolve) => request.socket.once('close', resolve));
    const index = seen.length;
    const facts = { path: request.url ?? '', fromPort: request.socket.remotePort, headers: request.headers, closed };
    seen.push({ ...facts, body: '' });
    void text(request).then(
      (body) => {
        seen[index] = { ...facts, body };
        answer?.(response, request);
      },
      () => undefined,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function portOf(address: string | AddressInfo | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Answers with a status and a body. */
export function status(code: number, body: string, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body);
}

/** Streams the parts and then ends the body, keeps it open, or breaks the socket. */
export function stream(parts: readonly string[], then: 'end' | 'open' | 'cut' = 'end'): Answer {
  return (response, request) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (then === 'end') return response.end(parts.join(''));
    response.write(parts.join(''), () => {
      if (then === 'cut') request.socket.destroy();
    });
  };
}

/** Streams the parts, then repeats one of them for as long as somebody listens. */
export function streamThenRepeat(parts: readonly string[], repeated: string): Answer {
  return (response, request) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(parts.join(''));
    const timer = setInterval(() => response.write(repeated), 5);
    request.socket.once('close', () => clearInterval(timer));
  };
}

/** Takes the request and says nothing. */
export const silence: Answer = () => undefined;

/** Breaks the connection before any header. */
export const reset: Answer = (_response, request) => request.socket.destroy();
