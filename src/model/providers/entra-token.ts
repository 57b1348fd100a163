import { readFile } from 'node:fs/promises';
import { getErrorMessage } from '../../lib/errors.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { runForOutput } from '../../lib/processes/run-program.ts';
import { KeyUnavailableError } from '../stream/failures.ts';
import { narrowToNumber, narrowToObject, narrowToString, parseNetworkJson } from '../stream/json-values.ts';
import { type CloudSettings, readFirstVariable } from './cloud-settings.ts';

const SCOPE = 'https://cognitiveservices.azure.com/.default';
const RESOURCE = 'https://cognitiveservices.azure.com';
const TIMEOUT_MS = 10_000;
const CLI_TIMEOUT_MS = 20_000;
/** Margin before expiry, so that a request can still be sent. */
const EXPIRY_MARGIN_MS = 120_000;

type Token = { readonly text: string; readonly endsAtMs: number };

/**
 * Creates a cached source of Microsoft Entra tokens: for an application (client secret or federated token file), for a
 * managed identity, or else for the user signed in with `az`.
 */
export function openEntraTokenSource(
  settings: CloudSettings,
  send: typeof fetch = fetch,
  now: () => number = Date.now,
  timeoutMs: number = TIMEOUT_MS,
): () => Promise<string> {
  let cached: Token | undefined;
  return async () => {
    if (cached !== undefined && cached.endsAtMs - EXPIRY_MARGIN_MS > now()) return cached.text;
    cached = await loadToken(settings, { send, now, timeoutMs });
    return cached.text;
  };
}

type TokenDeps = { readonly send: typeof fetch; readonly now: () => number; readonly timeoutMs: number };

async function loadToken(settings: CloudSettings, deps: TokenDeps): Promise<Token> {
  const tenant = readFirstVariable(settings, 'AZURE_TENANT_ID');
  const client_id = readFirstVariable(settings, 'AZURE_CLIENT_ID');
  const clientSecret = readFirstVariable(settings, 'AZURE_CLIENT_SECRET');
  const tokenFile = readFirstVariable(settings, 'AZURE_FEDERATED_TOKEN_FILE');
  try {
    if (tenant === undefined || client_id === undefined || (clientSecret ?? tokenFile) === undefined) {
      const managedIdentity = buildManagedIdentityRequest(settings);
      return managedIdentity === undefined ? await loadCliToken(settings) : await fetchToken(managedIdentity, deps);
    }
    const credential: Record<string, string> =
      clientSecret === undefined
        ? { client_assertion_type: ASSERTION_TYPE, client_assertion: (await readFile(tokenFile ?? '', 'utf8')).trim() }
        : { client_secret: clientSecret };
    const authority = readFirstVariable(settings, 'AZURE_AUTHORITY_HOST') ?? 'https://login.microsoftonline.com';
    const url = `${authority.replace(/(?<!\/)\/+$/, '')}/${tenant}/oauth2/v2.0/token`;
    const formFields = { grant_type: 'client_credentials', client_id, scope: SCOPE, ...credential };
    return await fetchToken({ url, body: new URLSearchParams(formFields) }, deps);
  } catch (cause) {
    const reason = getErrorMessage(cause).trim().split('\n').at(-1)?.replace(/\.$/, '');
    const advice =
      'Set ANTHROPIC_FOUNDRY_API_KEY (for OpenAI models AZURE_OPENAI_API_KEY), or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or sign in with az login.';
    throw new KeyUnavailableError(`Cannot get a Microsoft Entra token: ${reason}. ${advice}`, { cause });
  }
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

type TokenRequest = {
  readonly url: string;
  readonly body?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Builds the token request of a managed identity, at the endpoint in the environment or at the metadata address. The
 * latter is used only if `AZURE_TOKEN_CREDENTIALS` asks for it: outside of Azure the request would time out.
 */
function buildManagedIdentityRequest(settings: CloudSettings): TokenRequest | undefined {
  const endpoint = readFirstVariable(settings, 'IDENTITY_ENDPOINT');
  const identityHeader = readFirstVariable(settings, 'IDENTITY_HEADER');
  const isRequested = /^(?:prod|managedidentitycredential)$/i.test(
    readFirstVariable(settings, 'AZURE_TOKEN_CREDENTIALS') ?? '',
  );
  const client_id = readFirstVariable(settings, 'AZURE_CLIENT_ID');
  const buildQuery = (version: string) =>
    new URLSearchParams({ 'api-version': version, resource: RESOURCE, ...(client_id && { client_id }) });
  if (endpoint !== undefined && identityHeader !== undefined) {
    return { url: `${endpoint}?${buildQuery('2019-08-01')}`, headers: { 'x-identity-header': identityHeader } };
  }
  if (!isRequested) return undefined;
  const host = readFirstVariable(settings, 'AZURE_POD_IDENTITY_AUTHORITY_HOST') ?? 'http://169.254.169.254';
  return {
    url: `${host.replace(/(?<!\/)\/+$/, '')}/metadata/identity/oauth2/token?${buildQuery('2018-02-01')}`,
    headers: { metadata: 'true' },
  };
}

async function fetchToken(
  { url, body, headers = {} }: TokenRequest,
  { send, now, timeoutMs }: TokenDeps,
): Promise<Token> {
  const { origin } = new URL(url);
  const limit = AbortSignal.timeout(timeoutMs);
  const request: RequestInit = body === undefined ? { method: 'GET' } : { method: 'POST', body };
  const [status, answer] = await send(url, { ...request, headers, redirect: 'error', signal: limit })
    .then(async (response) => [response.status, await response.text()] as const)
    .catch((thrown: unknown) => {
      throw limit.aborted ? new Error(`${origin} did not answer within ${timeoutMs / 1000} s`) : thrown;
    });
  const reply = narrowToObject(parseNetworkJson(answer));
  const text = narrowToString(reply?.access_token);
  if (text === undefined) {
    throw new Error(narrowToString(reply?.error_description)?.split('\n')[0] ?? `${origin} answered with ${status}`);
  }
  // Managed identities return numbers as strings.
  return { text, endsAtMs: now() + (narrowToNumber(Number(reply?.expires_in)) ?? 0) * 1000 };
}

async function loadCliToken({ variables }: CloudSettings): Promise<Token> {
  const args = ['account', 'get-access-token', '--resource', RESOURCE, '--output', 'json'];
  const reply = narrowToObject(
    parseNetworkJson(await runForOutput('az', args, { env: variables, timeoutMs: CLI_TIMEOUT_MS })),
  );
  const text = narrowToString(reply?.accessToken);
  if (text === undefined) throw new Error('az printed no token');
  return { text, endsAtMs: (narrowToNumber(reply?.expires_on) ?? 0) * 1000 };
}
