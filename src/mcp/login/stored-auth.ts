import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { type OAuthTokens, OAuthTokensSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { lockedFile } from '../../lib/files/file-lock.ts';
import type { ConfiguredServer, OAuthChoice } from '../config/configured-server.ts';
import { clientFacts } from './auth-provider.ts';
import { notingChallenges } from './challenge.ts';
import { type CredentialStore, type Credentials, openCredentials } from './credentials.ts';
import type { Surroundings } from './id-token.ts';
import { vouchedLogin } from './vouched-login.ts';

/** A login that was kept, as the MCP library takes it. */
export type StoredAuth = { readonly authProvider?: OAuthClientProvider; readonly fetch?: FetchLike };

/** The login that was kept for a server, able to renew itself; never one that sends a person anywhere. */
export async function storedAuth(
  { launch }: ConfiguredServer,
  parts: Surroundings & { readonly ouroHome: string },
): Promise<StoredAuth | undefined> {
  if (launch.kind !== 'http' && launch.kind !== 'sse') return undefined;
  const { url } = launch;
  const { ouroHome } = parts;
  const vouching = launch.oauth?.identityProvider;
  if (launch.oauth !== undefined && vouching !== undefined) return vouchedLogin(url, launch.oauth, vouching, parts);
  const store = openCredentials(ouroHome);
  if (launch.oauth?.grant === 'client_credentials') return machineLogin(launch.oauth);
  if ((await store.of(url))?.tokens === undefined) return { fetch: notingChallenges(url, store, fetch, [401, 403]) };
  const kept = keptLogin(url, store);
  // A token that ran out is no news: whoever has another one meanwhile must not be kept waiting.
  const renewing = oneRefresh({ url, store, ouroHome, sent: kept.sent });
  return { authProvider: kept.provider, fetch: notingChallenges(url, store, renewing, [403]) };
}

/** A login of a program, which no person has to say yes to: a secret, or a key that signs. */
function machineLogin({
  clientId = '',
  clientSecret = '',
  privateKey,
  algorithm,
  scope,
  issuer,
}: OAuthChoice): StoredAuth {
  const bound = issuer === undefined ? {} : { expectedIssuer: issuer };
  const common = { clientId, ...(scope === undefined ? {} : { scope }), ...bound };
  if (privateKey === undefined) return { authProvider: new ClientCredentialsProvider({ ...common, clientSecret }) };
  return { authProvider: new PrivateKeyJwtProvider({ ...common, privateKey, algorithm: algorithm ?? 'ES256' }) };
}

/** Asked anew each time: another connection, or another ouro, may have renewed it meanwhile. */
function keptLogin(url: string, store: CredentialStore) {
  let sent: OAuthTokens | undefined;
  let client: Credentials['client'];
  const isOurs = ({ tokens }: Credentials) => tokens !== undefined && sameTokens(tokens, sent);
  const provider: OAuthClientProvider = {
    ...clientFacts('http://127.0.0.1/callback'),
    state: () => '',
    clientInformation: async () => client ?? (await store.of(url))?.client,
    async saveClientInformation(fresh) {
      client = fresh;
      await store.update(url, (now) => (now.client?.client_id === fresh.client_id ? { ...now, client: fresh } : now));
    },
    async tokens() {
      sent = (await store.of(url))?.tokens;
      return sent;
    },
    async saveTokens(fresh) {
      await store.update(url, (now) => (isOurs(now) || hasGot(now, fresh) ? { ...now, tokens: fresh } : now));
      sent = fresh;
    },
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    async invalidateCredentials(scope) {
      if (scope !== 'tokens') client = undefined;
      const keep = scope === 'tokens' ? ({ client: own }: Credentials) => ({ client: own }) : () => ({});
      if (scope === 'all' || scope === 'tokens') await store.update(url, (now) => (isOurs(now) ? keep(now) : now));
    },
  };
  return { provider, sent: () => sent };
}

const sameTokens = (a: OAuthTokens, b: OAuthTokens | undefined) =>
  a.access_token === b?.access_token && a.refresh_token === b.refresh_token;

/** The refresh itself has kept them already. */
const hasGot = ({ tokens }: Credentials, fresh: OAuthTokens) => tokens?.access_token === fresh.access_token;

type RefreshParts = {
  readonly url: string;
  readonly store: CredentialStore;
  readonly ouroHome: string;
  /** What the library holds for the present tokens. */
  readonly sent: () => OAuthTokens | undefined;
};

/** How long a server may take to renew a login; others wait for it. */
const REFRESH_MS = 30_000;

/**
 * A login is renewed by one connection of one ouro at a time, and what it brought is kept before the next one looks:
 * many servers take a token that renews only once.
 */
function oneRefresh({ url, store, ouroHome, sent }: RefreshParts): FetchLike {
  const turn = join(ouroHome, `mcp-login-${createHash('sha256').update(url).digest('hex').slice(0, 16)}`);

  async function refreshed(refreshToken: string, ask: () => Promise<Response>): Promise<Response> {
    const known = (await store.of(url))?.tokens;
    const isRenewed = known !== undefined && (known.refresh_token !== refreshToken || !sameTokens(known, sent()));
    if (isRenewed) return Response.json(known);
    const response = await ask();
    const fresh = response.ok
      ? OAuthTokensSchema.safeParse(
          await response
            .clone()
            .json()
            .catch(() => undefined),
        )
      : undefined;
    if (fresh?.success === true) {
      const tokens = { refresh_token: refreshToken, ...fresh.data, issuer: known?.issuer };
      await store.update(url, (now) => ({ ...now, tokens }));
    }
    return response;
  }

  return (input, init) => {
    const form = init?.body instanceof URLSearchParams ? init.body : undefined;
    const refreshToken = form?.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : null;
    if (refreshToken === null || refreshToken === undefined) return fetch(input, init);
    const limited = { ...init, signal: AbortSignal.timeout(REFRESH_MS) };
    return lockedFile(turn, () => refreshed(refreshToken, () => fetch(input, limited)), 2 * REFRESH_MS);
  };
}

/** Does the server want a login, or a new one? */
export function isUnauthorized(thrown: unknown): boolean {
  if (thrown instanceof UnauthorizedError) return true;
  return thrown instanceof Error && 'code' in thrown && (thrown.code === 401 || thrown.code === 403);
}
