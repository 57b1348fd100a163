import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION = 'urn:ietf:params:oauth:token-type:id-jag';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

type Answer = readonly [status: number, body: object, headers?: Readonly<Record<string, string>>];

/** The faults of the company's servers. */
export type CompanyFaults = {
  readonly idp?: Answer;
  readonly tokens?: Answer;
  /** The issuer that the authorization server names. */
  readonly issuer?: string;
  /** The scopes that the identity provider grants at most. */
  readonly most?: readonly string[];
  /** The MCP server takes no token at all. */
  readonly refusesAll?: true;
};

/**
 * An identity provider, an authorization server that believes it, and an MCP server whose tool wants more than a
 * connection: all on one loopback port. Each of them checks what the specifications have it check.
 */
export async function startCompany(faults: CompanyFaults = {}) {
  const requests: Record<string, string>[] = [];
  const assertions = new Map<string, Readonly<Record<string, string>>>();
  const tokens = new Map<string, readonly string[]>();
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const who = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
    const [status, said, headers = {}] = route(request, body, who);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(said));
  }

  function route(request: IncomingMessage, body: string, who: string): Answer {
    switch (request.url) {
      case '/.well-known/oauth-protected-resource/mcp':
        return [200, { resource: `${base}/mcp`, authorization_servers: [base], scopes_supported: ['read'] }];
      case '/.well-known/oauth-authorization-server':
        return [
          200,
          {
            issuer: faults.issuer ?? base,
            authorization_endpoint: `${base}/authorize`,
            token_endpoint: `${base}/token`,
            response_types_supported: ['code'],
            token_endpoint_auth_methods_supported: ['client_secret_basic'],
          },
        ];
      case '/idp/token':
        return faults.idp ?? vouch(Object.fromEntries(new URLSearchParams(body)), who);
      case '/token':
        return faults.tokens ?? give(Object.fromEntries(new URLSearchParams(body)), who);
      case '/mcp':
      case '/messages':
        return request.method === 'POST'
          ? speak(request.headers.authorization?.replace('Bearer ', ''), JSON.parse(body))
          : [405, {}];
      default:
        return [404, {}];
    }
  }

  function vouch(form: Record<string, string>, who: string): Answer {
    requests.push(form);
    const isAsked = form.grant_type === EXCHANGE && form.requested_token_type === ASSERTION;
    const isKnown = form.client_id === 'at-idp' || who === 'at-idp:idp%3Asecret';
    if (!isAsked || !isKnown || form.subject_token_type !== ID_TOKEN) return [400, { error: 'invalid_request' }];
    if (!form.subject_token?.startsWith('person')) return [400, { error: 'invalid_grant', error_description: 'Who?' }];
    const beyond = form.scope?.split(' ').find((scope) => faults.most?.includes(scope) === false);
    if (beyond !== undefined) return [400, { error: 'invalid_scope', error_description: `Not ${beyond}.` }];
    const { audience = '', resource = '', scope = '' } = form;
    const assertion = randomUUID();
    assertions.set(assertion, { audience, resource, scope });
    return [200, { access_token: assertion, issued_token_type: ASSERTION, token_type: 'N_A', expires_in: 300 }];
  }

  function give(form: Record<string, string>, who: string): Answer {
    requests.push(form);
    const { assertion = '', scope = '' } = form;
    const facts = assertions.get(assertion);
    assertions.delete(assertion);
    if (who !== 'us:secret') return [401, { error: 'invalid_client' }];
    const isFor = facts?.audience === base && facts.resource === `${base}/mcp` && form.resource === facts.resource;
    if (form.grant_type !== BEARER || !isFor || facts.scope !== scope) return [400, { error: 'invalid_grant' }];
    const token = randomUUID();
    tokens.set(token, scope.split(' '));
    return [200, { access_token: token, token_type: 'Bearer', expires_in: 60, scope }];
  }

  function speak(token: string | undefined, { id, method }: { readonly id?: number; readonly method: string }): Answer {
    const scopes = faults.refusesAll ? undefined : tokens.get(token ?? '');
    if (scopes === undefined) return [401, {}, { 'www-authenticate': 'Bearer error="invalid_token"' }];
    if (method === 'tools/call' && !scopes.includes('write'))
      return [403, {}, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' }];
    if (id === undefined) return [202, {}];
    return [200, { jsonrpc: '2.0', id, result: RESULTS[method] ?? {} }];
  }

  return {
    base,
    url: `${base}/mcp`,
    /** The requests to the identity provider and the authorization server, in order. */
    requests: () => requests,
    expire: () => tokens.clear(),
    async [Symbol.asyncDispose]() {
      http.close();
      http.closeAllConnections();
    },
  };
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'company', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'open', description: 'Opens', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'opened' }] },
};
