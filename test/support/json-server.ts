import { createServer, type IncomingHttpHeaders } from 'node:http';

/** A request to the server. */
type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** The response of a path: JSON, the bytes of a file, or a redirect. */
type Answers = Readonly<Record<string, unknown>>;

/** A server on 127.0.0.1 that answers paths with what stands there, and 404 to everything else. */
export async function startJsonServer(answers: Answers | ((own: string) => Answers)) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    asked.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
    const known = typeof answers === 'function' ? answers(origin()) : answers;
    const answer = known[url];
    if (Buffer.isBuffer(answer)) return void response.end(answer);
    if (answer instanceof URL) return void response.writeHead(302, { location: answer.href }).end();
    const isThere = Object.hasOwn(known, url);
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isThere ? answer : { error: 'not found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  function origin(): string {
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;
  }
  return {
    url: origin(),
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
