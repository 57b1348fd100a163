import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { untilAborted } from '../../lib/abort.ts';
import type { OAuthChoice } from '../config/configured-server.ts';
import { authProvider } from './auth-provider.ts';
import { askForChallenge } from './challenge.ts';
import { type CredentialStore, openCredentials } from './credentials.ts';

export type LoginParts = {
  readonly url: string;
  /** How the entry of the server says to log in. */
  readonly oauth?: OAuthChoice | undefined;
  readonly ouroHome: string;
  /** Shows the address to the person, and opens it if there is something to open it with. */
  readonly visit: (address: URL) => void;
  readonly signal: AbortSignal;
};

/** Logs in to a server: sends the person to its page and waits on loopback for the answer. */
export async function login(parts: LoginParts): Promise<void> {
  if (parts.oauth?.identityProvider !== undefined || parts.oauth?.grant === 'client_credentials')
    throw new Error('Its entry says how ouro logs in there by itself, so there is no page to visit. Connect it anew.');
  const state = randomBytes(16).toString('base64url');
  const answered = Promise.withResolvers<string>();
  answered.promise.catch(() => undefined);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isOurs = pathname === '/callback' && searchParams.get('state') === state;
    const code = searchParams.get('code');
    response.statusCode = isOurs ? 200 : 404;
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    response.end(isOurs ? 'You can close this page and go back to ouro.\n' : 'Nothing here.\n');
    if (!isOurs) return;
    if (code === null) answered.reject(new Error(`The server refused: ${searchParams.get('error') ?? 'no code'}.`));
    else answered.resolve(code);
  });
  server.listen(parts.oauth?.callbackPort ?? 0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const store = openCredentials(parts.ouroHome);
    const redirectUrl = `http://127.0.0.1:${port}/callback`;
    // A fresh registration each time: the port is part of what is registered.
    const provider = authProvider({ ...parts, oauth: parts.oauth, store, redirectUrl, state });
    const wanted = await wantedLogin(parts, store);
    const first = await untilAborted(auth(provider, wanted), parts.signal);
    if (first === 'AUTHORIZED') return;
    const authorizationCode = await untilAborted(answered.promise, parts.signal);
    if (authorizationCode === undefined) throw new Error('The login was given up. Nothing was kept.');
    await auth(provider, { ...wanted, authorizationCode });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** How far the login must reach: what the server said when it refused, or says when it is asked now. */
async function wantedLogin({ url, oauth, signal }: LoginParts, store: CredentialStore) {
  const challenge = (await store.of(url))?.challenge ?? (await askForChallenge(url, signal));
  const scope = challenge?.scope ?? oauth?.scope;
  const metadata = challenge?.resourceMetadata;
  return {
    serverUrl: url,
    ...(scope === undefined ? {} : { scope }),
    ...(metadata === undefined ? {} : { resourceMetadataUrl: new URL(metadata) }),
  };
}
