import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** An MCP server that wants a login, and the authorization server beside it: both on one loopback port. */
export type OAuthServer = {
  readonly url: string;
  /** Every grant that was asked for, in order. */
  readonly grants: () => readonly string[];
  /** From now on the tokens given out are refused, as if their time were up. */
  expire(): void;
  /** From now on tokens are not given out: the answer is 500, the connection is cut, or nothing happens. */
  breakTokens(how: 'never' | 'error' | 'cut' | 'hang'): void;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function startOAuthServer(): Promise<OAuthServer> {
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  const grants: string[] = [];
  let valid = new Set<string>();
  let refresh = '';
  let broken: 'never' | 'error' | 'cut' | 'hang' = 'never';

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', base);
    const body = await text(request);
    switch (pathname) {
      case '/.well-known/oauth-protected-resource':
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, 200, { resource: `${base}/mcp`, authorization_servers: [base] });
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, {
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        });
      case '/register':
        return json(response, 201, { ...JSON.parse(body), client_id: randomUUID() });
      case '/authorize': {
        const code = randomUUID();
        const redirect = searchParams.get('redirect_uri') ?? '';
        codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', redirect });
        const target = new URL(redirect);
        target.searchParams.set('code', code);
        target.searchParams.set('state', searchParams.get('state') ?? '');
        response.writeHead(302, { location: target.href }).end();
        return;
      }
      case '/token':
        if (broken === 'cut') return void request.socket.destroy();
        if (broken === 'hang') return undefined;
        if (broken === 'error') return json(response, 500, { error: 'server_error' });
        return json(response, ...grant(new URLSearchParams(body)));
      case '/mcp':
        return speak(request, response, body);
      default:
        return json(response, 404, { error: 'not_found' });
    }
  }

  function grant(form: URLSearchParams): [number, object] {
    const type = form.get('grant_type') ?? '';
    grants.push(type);
    const code = codes.get(form.get('code') ?? '');
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isCode =
      type === 'authorization_code' && code?.challenge === proof && code.redirect === form.get('redirect_uri');
    const isRefresh = type === 'refresh_token' && form.get('refresh_token') === refresh && refresh !== '';
    if (!isCode && !isRefresh) return [400, { error: 'invalid_grant' }];
    const token = randomUUID();
    valid.add(token);
    refresh = randomUUID();
    return [200, { access_token: token, token_type: 'Bearer', expires_in: 3600, refresh_token: refresh }];
  }

  /** Just enough of MCP to connect and to have one tool. */
  function speak(request: IncomingMessage, response: ServerResponse, body: string): void {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (!valid.has(token)) {
      const where = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource"`;
      response.writeHead(401, { 'www-authenticate': where }).end();
      return;
    }
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body);
    if (id === undefined) return void response.writeHead(202).end();
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'guarded', version: '1.0.0' },
      },
      'tools/list': { tools: [{ name: 'open', description: 'Opens', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'opened' }] },
    };
    json(response, 200, { jsonrpc: '2.0', id, result: results[method] ?? {} });
  }

  return {
    url: `${base}/mcp`,
    grants: () => grants,
    expire() {
      valid = new Set();
    },
    breakTokens(how) {
      broken = how;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function json(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
