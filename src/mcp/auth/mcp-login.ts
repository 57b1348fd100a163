import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { createDeferred, resolveUndefinedOnAbort } from '../../lib/promises.ts';
import type { OAuthConfig } from '../configured-mcp-server.ts';
import { requestAuthChallenge } from './auth-challenge.ts';
import { createMcpFetch } from './auth-server-fetch.ts';
import { type McpCredentialStore, type McpCredentials, openMcpCredentialStore } from './mcp-credentials.ts';

/** The server to log in to, and how to show its page to the user. */
export type McpLoginOptions = {
  readonly url: string;
  /** OAuth settings of the server's entry. */
  readonly oauth?: OAuthConfig | undefined;
  readonly ouroHome: string;
  /** Shows the authorization page to the user, in a browser when there is one. */
  readonly openPage: (address: URL) => void;
  readonly signal: AbortSignal;
};

/** Logs in to a server through its authorization page; waits for the redirect on a loopback port. */
export async function loginToMcpServer(options: McpLoginOptions): Promise<void> {
  if (options.oauth?.identityProvider !== undefined || options.oauth?.grant === 'client_credentials')
    throw new Error('Its entry configures a login without a web page. Reconnect the server to log in.');
  const state = randomBytes(16).toString('base64url');
  const callback = createDeferred<string>();
  callback.promise.catch(() => undefined);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isCallback = pathname === '/callback' && searchParams.get('state') === state;
    const code = searchParams.get('code');
    response.statusCode = isCallback ? 200 : 404;
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    response.end(isCallback ? 'Login complete. You can close this page and return to ouro.\n' : 'Not found.\n');
    if (!isCallback) return;
    if (code === null)
      callback.reject(new Error(`The server refused the login: ${searchParams.get('error') ?? 'no code'}.`));
    else callback.resolve(code);
  });
  server.listen(options.oauth?.callbackPort ?? 0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const store = openMcpCredentialStore(options.ouroHome);
    const redirectUrl = `http://127.0.0.1:${port}/callback`;
    // Registered anew for each login: the port is part of the registration.
    const provider = createAuthProvider({ ...options, oauth: options.oauth, store, redirectUrl, state });
    const authOptions = await resolveLoginOptions(options, store);
    const result = await resolveUndefinedOnAbort(auth(provider, authOptions), options.signal);
    if (result === 'AUTHORIZED') return;
    const authorizationCode = await resolveUndefinedOnAbort(callback.promise, options.signal);
    if (authorizationCode === undefined) throw new Error('The login was cancelled. No credentials were saved.');
    await auth(provider, { ...authOptions, authorizationCode });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Resolves scope and metadata of the login from the stored challenge, a new one, or the entry. */
async function resolveLoginOptions({ url, oauth, signal }: McpLoginOptions, store: McpCredentialStore) {
  const challenge = (await store.get(url))?.challenge ?? (await requestAuthChallenge(url, signal));
  const scope = challenge?.scope ?? oauth?.scope;
  const metadata = challenge?.resourceMetadata;
  return {
    serverUrl: url,
    fetchFn: createMcpFetch(url),
    ...(scope === undefined ? {} : { scope }),
    ...(metadata === undefined ? {} : { resourceMetadataUrl: new URL(metadata) }),
  };
}

/** Inputs of the OAuth provider for one interactive login. */
export type AuthProviderOptions = {
  readonly url: string;
  readonly store: McpCredentialStore;
  readonly redirectUrl: string;
  readonly state: string;
  /** OAuth settings of the server's entry, such as a registered client id. */
  readonly oauth: OAuthConfig | undefined;
  /** Shows the authorization page to the user. */
  readonly openPage: (address: URL) => void;
};

/** Returns ouro's client metadata with the address the server redirects back to. */
export function describeOAuthClient(redirectUrl: string): Pick<OAuthClientProvider, 'redirectUrl' | 'clientMetadata'> {
  return {
    redirectUrl,
    clientMetadata: {
      client_name: 'ouro',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
  };
}

/** Returns the client registered by hand; a client id that is a URL is metadata for the server to fetch instead. */
function getRegisteredClient(oauth: OAuthConfig | undefined): McpCredentials['client'] {
  if (oauth?.clientId === undefined || isUrl(oauth.clientId)) return undefined;
  const secret = oauth.clientSecret === undefined ? {} : { client_secret: oauth.clientSecret };
  return { client_id: oauth.clientId, ...secret };
}

/** Returns the URL a server may read ouro's client metadata from instead of registering it. */
function getMetadataUrl(oauth: OAuthConfig | undefined): Pick<OAuthClientProvider, 'clientMetadataUrl'> {
  return oauth?.clientId !== undefined && isUrl(oauth.clientId) ? { clientMetadataUrl: oauth.clientId } : {};
}

const isUrl = (text: string) => /^https?:\/\//.test(text);

/** Creates the SDK's OAuth provider for one login; stored credentials change only when the login succeeds. */
function createAuthProvider(options: AuthProviderOptions): OAuthClientProvider {
  let client: McpCredentials['client'] = getRegisteredClient(options.oauth);
  let tokens: McpCredentials['tokens'];
  let verifier = '';
  return {
    ...describeOAuthClient(options.redirectUrl),
    ...getMetadataUrl(options.oauth),
    state: () => options.state,
    clientInformation: () => client,
    saveClientInformation(information) {
      client = information;
    },
    tokens: () => tokens,
    async saveTokens(fresh) {
      tokens = fresh;
      await options.store.save(options.url, { client, tokens });
    },
    redirectToAuthorization: options.openPage,
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') client = undefined;
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
    },
  };
}
