import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { type OAuthTokens, OAuthTokensSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { getErrnoCode, getErrorMessage } from '../../lib/errors.ts';
import { runWithFileLock } from '../../lib/files/file-lock.ts';
import { fetch } from '../../lib/network/fetch.ts';
import type { ConfiguredMcpServer, OAuthConfig } from '../configured-mcp-server.ts';
import { recordAuthChallenges } from './auth-challenge.ts';
import {
  AUTH_SERVER_TIMEOUT_MS,
  createMcpFetch,
  createRenewalError,
  fetchFromAuthServer,
  isRenewalFailure,
} from './auth-server-fetch.ts';
import { createEnterpriseAuth } from './enterprise-auth.ts';
import type { IdTokenCommandEnvironment } from './identity-provider.ts';
import { type McpCredentialStore, type McpCredentials, openMcpCredentialStore } from './mcp-credentials.ts';
import { describeOAuthClient } from './mcp-login.ts';

/** A stored login in the form the MCP SDK takes it. */
export type StoredMcpAuth = { readonly authProvider?: OAuthClientProvider; readonly fetch?: FetchLike };

/** Creates the login of a server from stored credentials; it renews itself and never opens a page. */
export async function createStoredMcpAuth(
  { launch }: ConfiguredMcpServer,
  deps: IdTokenCommandEnvironment & { readonly ouroHome: string },
): Promise<StoredMcpAuth | undefined> {
  if (launch.kind !== 'http' && launch.kind !== 'sse') return undefined;
  const { url } = launch;
  const { ouroHome } = deps;
  const identityProvider = launch.oauth?.identityProvider;
  if (launch.oauth !== undefined && identityProvider !== undefined)
    return createEnterpriseAuth(url, launch.oauth, identityProvider, deps);
  const store = openMcpCredentialStore(ouroHome);
  if (launch.oauth?.grant === 'client_credentials') return createClientCredentialsAuth(url, launch.oauth);
  if ((await store.get(url))?.tokens === undefined)
    return { fetch: recordAuthChallenges(url, store, fetch, [401, 403]) };
  const { provider, getSentTokens } = createStoredProvider(url, store);
  // Only 403 is recorded: a 401 means an expired token, which is refreshed without a new login.
  const refreshingFetch = createRefreshingFetch({ url, store, ouroHome, getSentTokens });
  return { authProvider: provider, fetch: recordAuthChallenges(url, store, refreshingFetch, [403]) };
}

/** Creates a login without a user: client credentials with a secret or a signing key. */
function createClientCredentialsAuth(
  url: string,
  { clientId = '', clientSecret = '', privateKey, algorithm, scope, issuer }: OAuthConfig,
): StoredMcpAuth {
  const issuerOption = issuer === undefined ? {} : { expectedIssuer: issuer };
  const common = { clientId, ...(scope === undefined ? {} : { scope }), ...issuerOption };
  const authProvider =
    privateKey === undefined
      ? new ClientCredentialsProvider({ ...common, clientSecret })
      : new PrivateKeyJwtProvider({ ...common, privateKey, algorithm: algorithm ?? 'ES256' });
  return { authProvider, fetch: createMcpFetch(url) };
}

/** Creates a provider that reads the store on each request: another process may have renewed the tokens. */
function createStoredProvider(url: string, store: McpCredentialStore) {
  let sent: OAuthTokens | undefined;
  let client: McpCredentials['client'];
  const isSent = ({ tokens }: McpCredentials) => tokens !== undefined && areSameTokens(tokens, sent);
  const provider: OAuthClientProvider = {
    ...describeOAuthClient('http://127.0.0.1/callback'),
    state: () => '',
    clientInformation: async () => client ?? (await store.get(url))?.client,
    async saveClientInformation(fresh) {
      client = fresh;
      await store.update(url, (current) =>
        current.client?.client_id === fresh.client_id ? { ...current, client: fresh } : current,
      );
    },
    async tokens() {
      sent = (await store.get(url))?.tokens;
      return sent;
    },
    async saveTokens(fresh) {
      await store.update(url, (current) =>
        isSent(current) || hasReceived(current, fresh) ? { ...current, tokens: fresh } : current,
      );
      sent = fresh;
    },
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    async invalidateCredentials(scope) {
      if (scope !== 'tokens') client = undefined;
      const reduce = scope === 'tokens' ? (stored: McpCredentials) => ({ client: stored.client }) : () => ({});
      if (scope === 'all' || scope === 'tokens')
        await store.update(url, (current) => (isSent(current) ? reduce(current) : current));
    },
  };
  return { provider, getSentTokens: () => sent };
}

const areSameTokens = (a: OAuthTokens, b: OAuthTokens | undefined) =>
  a.access_token === b?.access_token && a.refresh_token === b.refresh_token;

/** Returns true when the refresh has already stored these tokens. */
const hasReceived = ({ tokens }: McpCredentials, fresh: OAuthTokens) => tokens?.access_token === fresh.access_token;

type RefreshParts = {
  readonly url: string;
  readonly store: McpCredentialStore;
  readonly ouroHome: string;
  /** The tokens the SDK last sent. */
  readonly getSentTokens: () => OAuthTokens | undefined;
};

/**
 * Creates a fetch that lets one connection of one process refresh a login at a time and stores the new tokens before
 * the next one reads them: many servers accept a refresh token only once.
 */
function createRefreshingFetch({ url, store, ouroHome, getSentTokens }: RefreshParts): FetchLike {
  const send = createMcpFetch(url);
  const lockPath = join(ouroHome, `mcp-login-${createHash('sha256').update(url).digest('hex').slice(0, 16)}`);

  async function refresh(refreshToken: string, request: () => Promise<Response>): Promise<Response> {
    const current = (await store.get(url))?.tokens;
    const isRenewed =
      current !== undefined && (current.refresh_token !== refreshToken || !areSameTokens(current, getSentTokens()));
    if (isRenewed) return Response.json(current);
    const response = await request().catch((thrown: unknown) => {
      throw isRenewalFailure(thrown) ? thrown : createRefreshError(getErrnoCode(thrown) ?? getErrorMessage(thrown));
    });
    if (response.status >= 500 || response.status === 429) throw createRefreshError(`HTTP ${response.status}`);
    const fresh = response.ok
      ? OAuthTokensSchema.safeParse(
          await response
            .clone()
            .json()
            .catch(() => undefined),
        )
      : undefined;
    if (fresh?.success === true) {
      const tokens = { refresh_token: refreshToken, ...fresh.data, issuer: current?.issuer };
      await store.update(url, (stored) => ({ ...stored, tokens }));
    }
    return response;
  }

  return (input, init) => {
    const form = init?.body instanceof URLSearchParams ? init.body : undefined;
    const refreshToken = form?.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : null;
    if (refreshToken === null || refreshToken === undefined) return send(input, init);
    return runWithFileLock(
      lockPath,
      () => refresh(refreshToken, () => fetchFromAuthServer(input, init)),
      2 * AUTH_SERVER_TIMEOUT_MS,
    );
  };
}

const createRefreshError = (why: string) => createRenewalError(`The login could not be renewed (${why})`);

/** Returns true for errors that mean the server needs a login or a new one. */
export function isUnauthorized(thrown: unknown): boolean {
  if (thrown instanceof UnauthorizedError) return true;
  return thrown instanceof Error && 'code' in thrown && (thrown.code === 401 || thrown.code === 403);
}
