import { randomUUID } from 'node:crypto';
import {
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetch } from '../../lib/network/fetch.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import type { OAuthConfig } from '../configured-mcp-server.ts';
import { fetchFromAuthServer, isMcpRequest } from './auth-server-fetch.ts';
import {
  describeTokenError,
  type IdTokenCommandEnvironment,
  type McpIdentityProvider,
  readIdToken,
  requestAssertion,
} from './identity-provider.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * Creates an enterprise-managed login: the identity provider issues an assertion about the user, which the MCP server's
 * authorization server exchanges for a token (RFC 8693, RFC 7523). No page is opened; the token lives as long as the
 * connection and is renewed when it expires or lacks a scope.
 */
export function createEnterpriseAuth(
  url: string,
  oauth: OAuthConfig,
  identityProvider: McpIdentityProvider,
  commandEnvironment: IdTokenCommandEnvironment,
): { readonly authProvider: OAuthClientProvider; readonly fetch: FetchLike } {
  const { clientId = '', clientSecret, issuer, scope: configured } = oauth;
  let discovery: OAuthDiscoveryState | undefined;
  let tokens: OAuthTokens | undefined;
  const scopeTracker = createScopeTracker(
    () => configured?.split(' ') ?? discovery?.resourceMetadata?.scopes_supported ?? [],
  );

  async function createTokenRequest(): Promise<URLSearchParams> {
    const { token: assertion, scopes } = await requestAssertion({
      identityProvider,
      idToken: await readIdToken(identityProvider, commandEnvironment),
      audience:
        discovery?.authorizationServerMetadata?.issuer ?? discovery?.authorizationServerUrl ?? new URL(url).origin,
      resource: discovery?.resourceMetadata?.resource ?? stripFragment(url),
      scopes: scopeTracker.getScopes(),
    });
    const form = new URLSearchParams({ grant_type: JWT_BEARER, assertion });
    if (scopes.length > 0) form.set('scope', scopes.join(' '));
    return form;
  }

  const authProvider: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: { client_name: 'ouro', redirect_uris: [], grant_types: [JWT_BEARER] },
    clientInformation: () => ({
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    }),
    tokens: () => tokens,
    saveTokens(fresh) {
      tokens = fresh;
      scopeTracker.markGranted();
    },
    saveDiscoveryState(state) {
      assertServerIdentity(state, issuer);
      discovery = state;
    },
    prepareTokenRequest: () => renewal.getForm(scopeTracker.getScopes().join(' ')).catch(scopeTracker.rollBack),
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
  };

  const renewal = createSharedRenewal(createTokenRequest);
  /** The last token the server accepted. */
  let acceptedToken: string | undefined;
  const watchedFetch: FetchLike = async (input, init) => {
    const form = init?.body instanceof URLSearchParams ? init.body : undefined;
    if (form?.get('grant_type') === JWT_BEARER)
      return renewal
        .exchange(form.get('assertion') ?? '', () => exchangeAssertion(input, init))
        .catch(scopeTracker.rollBack);
    const headers = new Headers(init?.headers);
    if (!isMcpRequest(url, input, headers)) return fetchFromAuthServer(input, init);
    let response = await fetch(input, init);
    // A parallel request has renewed the token since this one was sent.
    if (response.status === 401 && tokens !== undefined && headers.get('authorization') !== formatBearer(tokens)) {
      await response.body?.cancel();
      headers.set('authorization', formatBearer(tokens));
      response = await fetch(input, { ...init, headers });
    }
    const isCurrentToken = tokens !== undefined && headers.get('authorization') === formatBearer(tokens);
    if (response.status === 401 && isCurrentToken && acceptedToken !== tokens?.access_token)
      throw new Error('The server refused (401) the token of its own authorization server.');
    if (response.status === 401 && (isCurrentToken || tokens === undefined)) renewal.reset();
    if (response.status === 401 || response.status === 403) scopeTracker.widen(response);
    else if (isCurrentToken) acceptedToken = tokens?.access_token;
    return response.status === 403 ? makeChallengeUnique(response) : response;
  };
  return { authProvider, fetch: watchedFetch };
}

/**
 * Makes the challenge header unique. The SDK takes a second identical challenge for a loop and gives up, even when the
 * first belonged to another call; `widen` is what prevents a real loop.
 */
function makeChallengeUnique({ body, status, statusText, headers: original }: Response): Response {
  const headers = new Headers(original);
  headers.set('www-authenticate', `${original.get('www-authenticate')}, once="${randomUUID()}"`);
  return new Response(body, { status, statusText, headers });
}

const formatBearer = ({ access_token }: OAuthTokens) => `Bearer ${access_token}`;

/**
 * Creates a renewal that parallel requests share: the id token command may need the user, and an assertion is valid
 * once. The result is reused until the server refuses the token.
 */
function createSharedRenewal(createRequest: () => Promise<URLSearchParams>) {
  let pendingForm: { readonly scopes: string; readonly form: Promise<URLSearchParams> } | undefined;
  let exchanged: { readonly assertion: string; readonly response: Promise<Response> } | undefined;
  const reset = () => {
    pendingForm = undefined;
  };
  const resetAndThrow = (thrown: unknown): never => {
    reset();
    throw thrown;
  };
  return {
    reset,
    /** Returns a copy each time, because the SDK adds fields to it. */
    getForm(scopes: string): Promise<URLSearchParams> {
      if (pendingForm?.scopes !== scopes) pendingForm = { scopes, form: createRequest().catch(resetAndThrow) };
      return pendingForm.form.then((form) => new URLSearchParams(form));
    },
    exchange(assertion: string, send: () => Promise<Response>): Promise<Response> {
      if (exchanged?.assertion !== assertion) exchanged = { assertion, response: send().catch(resetAndThrow) };
      return exchanged.response.then((response) => response.clone());
    },
  };
}

/** Sends the assertion to the authorization server; throws with its reason when it is refused. */
async function exchangeAssertion(input: string | URL, init: RequestInit | undefined): Promise<Response> {
  const response = await fetchFromAuthServer(input, { ...init, redirect: 'error' });
  if (response.ok) return response;
  const reason = describeTokenError(await response.text(), response.status);
  const server = `The authorization server ${new URL(String(input)).origin}`;
  throw new Error(`${server} refused the assertion of the identity provider: ${reason}.`);
}

/** Throws unless the authorization server is the expected one: it would receive client secret and assertion. */
function assertServerIdentity(
  { authorizationServerUrl, authorizationServerMetadata }: OAuthDiscoveryState,
  issuer?: string,
): void {
  const declared = authorizationServerMetadata?.issuer;
  if (declared !== undefined && !isSameUrl(declared, authorizationServerUrl))
    throw new Error(
      `The authorization server at ${authorizationServerUrl} identifies itself as ${declared}. No credentials were sent.`,
    );
  if (issuer !== undefined && !isSameUrl(issuer, authorizationServerUrl))
    throw new Error(
      `The server names ${authorizationServerUrl} as its authorization server, but its entry says ${issuer}. No credentials were sent.`,
    );
}

function isSameUrl(a: string, b: string): boolean {
  const normalize = (text: string) => (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, '');
  return normalize(a) === normalize(b);
}

const stripFragment = (url: string) => url.replace(/#.*/, '');

/** Creates the tracking of a login's scopes: those the server asked for so far, and those granted. */
function createScopeTracker(base: () => readonly string[]) {
  let requested: readonly string[] = [];
  let granted: readonly string[] = [];
  let requestedAtGrant: readonly string[] = [];
  const getScopes = () => (requested.length > 0 ? requested : base());
  return {
    getScopes,
    markGranted() {
      granted = getScopes();
      requestedAtGrant = requested;
    },
    /** Returns to the scopes of the last grant, so a renewal does not request refused ones again; rethrows. */
    rollBack(thrown: unknown): never {
      requested = requestedAtGrant;
      throw thrown;
    },
    /** Adds the scopes a refused response asks for; throws when more scopes would not change the refusal. */
    widen(response: Response): void {
      const { scope = '', error } = extractWWWAuthenticateParams(response);
      const more = scope.split(' ').filter((name) => name !== '');
      const needsMore = error === 'insufficient_scope' && more.some((name) => !granted.includes(name));
      if (response.status === 403 && !needsMore) {
        const detail = error === undefined ? '' : `, ${sanitizeUntrustedLine(error, 100)}`;
        throw new Error(`The server refused (403${detail}) the access your identity provider granted.`);
      }
      requested = [...new Set([...(response.status === 403 ? getScopes() : requested), ...more])];
    },
  };
}
