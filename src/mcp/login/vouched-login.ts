import { randomUUID } from 'node:crypto';
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { McpIdentityProvider } from '../../contracts/settings.ts';
import type { OAuthChoice } from '../config/configured-server.ts';
import { refusalWords, vouchedFor } from './ask-to-vouch.ts';
import { readIdToken, type Surroundings } from './id-token.ts';
import { openReach } from './reach.ts';

const BY_ASSERTION = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_MS = 20_000;

/**
 * The login of a company: its identity provider vouches for the person, and the authorization server of the MCP server
 * takes its word (RFC 8693, RFC 7523). Nobody visits a page; what was got is kept as long as the connection lasts, and
 * got anew when it runs out or does not reach far enough.
 */
export function vouchedLogin(
  url: string,
  oauth: OAuthChoice,
  vouching: McpIdentityProvider,
  surroundings: Surroundings,
): { readonly authProvider: OAuthClientProvider; readonly fetch: FetchLike } {
  const { clientId = '', clientSecret, issuer, scope: configured } = oauth;
  let found: OAuthDiscoveryState | undefined;
  let tokens: OAuthTokens | undefined;
  const reach = openReach(() => configured?.split(' ') ?? found?.resourceMetadata?.scopes_supported ?? []);

  async function request(): Promise<URLSearchParams> {
    const { text: assertion, scopes } = await vouchedFor({
      vouching,
      idToken: await readIdToken(vouching, surroundings),
      audience: found?.authorizationServerMetadata?.issuer ?? found?.authorizationServerUrl ?? new URL(url).origin,
      resource: found?.resourceMetadata?.resource ?? withoutFragment(url),
      scopes: reach.wanted(),
    });
    const form = new URLSearchParams({ grant_type: BY_ASSERTION, assertion });
    if (scopes.length > 0) form.set('scope', scopes.join(' '));
    return form;
  }

  const authProvider: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: { client_name: 'ouro', redirect_uris: [], grant_types: [BY_ASSERTION] },
    clientInformation: () => ({
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    }),
    tokens: () => tokens,
    saveTokens(fresh) {
      tokens = fresh;
      reach.given();
    },
    saveDiscoveryState(state) {
      checkServer(state, issuer);
      found = state;
    },
    prepareTokenRequest: () => renewal.form(reach.wanted().join(' ')).catch(reach.refused),
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
  };

  const renewal = oneRenewal(request);
  /** The last token that the server took. */
  let taken: string | undefined;
  const watching: FetchLike = async (input, init) => {
    const form = init?.body instanceof URLSearchParams ? init.body : undefined;
    if (form?.get('grant_type') === BY_ASSERTION)
      return renewal.answer(form.get('assertion') ?? '', () => believed(input, init)).catch(reach.refused);
    const headers = new Headers(init?.headers);
    // Servers of the older kind are written to at another address.
    const isServer =
      new URL(String(input)).href === new URL(url).href || headers.get('authorization')?.startsWith('Bearer ') === true;
    let response = await fetch(input, init);
    // Somebody got another one meanwhile.
    if (
      isServer &&
      response.status === 401 &&
      tokens !== undefined &&
      headers.get('authorization') !== bearer(tokens)
    ) {
      await response.body?.cancel();
      headers.set('authorization', bearer(tokens));
      response = await fetch(input, { ...init, headers });
    }
    if (!isServer) return response;
    const isOurs = tokens !== undefined && headers.get('authorization') === bearer(tokens);
    if (response.status === 401 && isOurs && taken !== tokens?.access_token)
      throw new Error('It refused (401) the token that its own authorization server gave.');
    if (response.status === 401 && (isOurs || tokens === undefined)) renewal.isOver();
    if (response.status === 401 || response.status === 403) reach.widen(response);
    else if (isOurs) taken = tokens?.access_token;
    return response.status === 403 ? inOtherWords(response) : response;
  };
  return { authProvider, fetch: watching };
}

/**
 * The library takes a second refusal in the same words for a circle and ends it, though the first may have been another
 * call's; that none is walked in is watched here.
 */
function inOtherWords({ body, status, statusText, headers: said }: Response): Response {
  const headers = new Headers(said);
  headers.set('www-authenticate', `${said.get('www-authenticate')}, once="${randomUUID()}"`);
  return new Response(body, { status, statusText, headers });
}

const bearer = ({ access_token }: OAuthTokens) => `Bearer ${access_token}`;

/**
 * The identity provider is asked once for all who need the same at the same time: a command may want a finger, and an
 * assertion counts once. What it brought holds until the server refuses the token.
 */
function oneRenewal(request: () => Promise<URLSearchParams>) {
  let asked: { readonly scopes: string; readonly form: Promise<URLSearchParams> } | undefined;
  let shown: { readonly assertion: string; readonly answer: Promise<Response> } | undefined;
  const isOver = () => {
    asked = undefined;
  };
  const failed = (thrown: unknown): never => {
    isOver();
    throw thrown;
  };
  return {
    isOver,
    /** A copy each time: the library adds to it. */
    form(scopes: string): Promise<URLSearchParams> {
      if (asked?.scopes !== scopes) asked = { scopes, form: request().catch(failed) };
      return asked.form.then((form) => new URLSearchParams(form));
    },
    answer(assertion: string, show: () => Promise<Response>): Promise<Response> {
      if (shown?.assertion !== assertion) shown = { assertion, answer: show().catch(failed) };
      return shown.answer.then((response) => response.clone());
    },
  };
}

/** Shows an authorization server what the identity provider said; one that does not believe it says why. */
async function believed(input: string | URL, init: RequestInit | undefined): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error', signal: AbortSignal.timeout(TOKEN_MS) });
  if (response.ok) return response;
  const why = refusalWords(await response.text(), response.status);
  const who = `The authorization server ${new URL(String(input)).origin}`;
  throw new Error(`${who} did not take the word of the identity provider: ${why}.`);
}

/** The secret, and what vouches for the person, go to nobody who only says that it is the right one. */
function checkServer(
  { authorizationServerUrl, authorizationServerMetadata }: OAuthDiscoveryState,
  issuer?: string,
): void {
  const said = authorizationServerMetadata?.issuer;
  if (said !== undefined && !isSame(said, authorizationServerUrl))
    throw new Error(
      `The authorization server at ${authorizationServerUrl} says that it is ${said}. It was told nothing.`,
    );
  if (issuer !== undefined && !isSame(issuer, authorizationServerUrl))
    throw new Error(
      `It names ${authorizationServerUrl} as its authorization server, but its entry says ${issuer}. It was told nothing.`,
    );
}

function isSame(one: string, other: string): boolean {
  const plain = (text: string) => (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, '');
  return plain(one) === plain(other);
}

const withoutFragment = (url: string) => url.replace(/#.*/, '');
