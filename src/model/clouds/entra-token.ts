import { readFile } from 'node:fs/promises';
import { messageOf } from '../../lib/errors.ts';
import { outputOf } from '../../lib/processes/run-program.ts';
import { KeyUnavailable } from '../keys/key-unavailable.ts';
import { numberOf, objectOf, parseJson, textOf } from '../wire/wire-json.ts';
import { type CloudSettings, firstOf } from './cloud-settings.ts';

const SCOPE = 'https://cognitiveservices.azure.com/.default';
const RESOURCE = 'https://cognitiveservices.azure.com';
const TIMEOUT_MS = 20_000;
/** A token ends early enough for a request to be sent. */
const EARLY_MS = 120_000;

type Token = { readonly text: string; readonly endsAtMs: number };

/**
 * Tokens of Microsoft Entra: of an application by its secret or its federated file, of the machine where that has an
 * identity, else of who is signed in with `az`.
 */
export function openEntraSource(
  settings: CloudSettings,
  send: typeof fetch = fetch,
  now: () => number = Date.now,
): () => Promise<string> {
  let kept: Token | undefined;
  return async () => {
    if (kept !== undefined && kept.endsAtMs - EARLY_MS > now()) return kept.text;
    kept = await newToken(settings, send, now);
    return kept.text;
  };
}

async function newToken(settings: CloudSettings, send: typeof fetch, now: () => number): Promise<Token> {
  const tenant = firstOf(settings, 'AZURE_TENANT_ID');
  const client_id = firstOf(settings, 'AZURE_CLIENT_ID');
  const secret = firstOf(settings, 'AZURE_CLIENT_SECRET');
  const federated = firstOf(settings, 'AZURE_FEDERATED_TOKEN_FILE');
  try {
    if (tenant === undefined || client_id === undefined || (secret ?? federated) === undefined) {
      const machine = machineRequest(settings);
      return machine === undefined ? await fromCommandLine(settings) : await fromServer(machine, { send, now });
    }
    const proof: Record<string, string> =
      secret === undefined
        ? { client_assertion_type: ASSERTION, client_assertion: (await readFile(federated ?? '', 'utf8')).trim() }
        : { client_secret: secret };
    const authority = firstOf(settings, 'AZURE_AUTHORITY_HOST') ?? 'https://login.microsoftonline.com';
    const url = `${authority.replace(/\/+$/, '')}/${tenant}/oauth2/v2.0/token`;
    const form = { grant_type: 'client_credentials', client_id, scope: SCOPE, ...proof };
    return await fromServer({ url, body: new URLSearchParams(form) }, { send, now });
  } catch (cause) {
    const said = messageOf(cause).trim().split('\n').at(-1)?.replace(/\.$/, '');
    const advice =
      'Set ANTHROPIC_FOUNDRY_API_KEY (for OpenAI models AZURE_OPENAI_API_KEY), or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or sign in with az login.';
    throw new KeyUnavailable(`There is no token for Microsoft's cloud: ${said}. ${advice}`, { cause });
  }
}

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

type TokenRequest = {
  readonly url: string;
  readonly body?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * How a machine of Azure is asked who it is: at the address that its surroundings name, or at the one all of them have,
 * which is asked only where `AZURE_TOKEN_CREDENTIALS` says so; elsewhere nobody would answer.
 */
function machineRequest(settings: CloudSettings): TokenRequest | undefined {
  const own = firstOf(settings, 'IDENTITY_ENDPOINT');
  const proof = firstOf(settings, 'IDENTITY_HEADER');
  const isTold = /^(?:prod|managedidentitycredential)$/i.test(firstOf(settings, 'AZURE_TOKEN_CREDENTIALS') ?? '');
  const client_id = firstOf(settings, 'AZURE_CLIENT_ID');
  const query = (version: string) =>
    new URLSearchParams({ 'api-version': version, resource: RESOURCE, ...(client_id && { client_id }) });
  if (own !== undefined && proof !== undefined) {
    return { url: `${own}?${query('2019-08-01')}`, headers: { 'x-identity-header': proof } };
  }
  if (!isTold) return undefined;
  const host = firstOf(settings, 'AZURE_POD_IDENTITY_AUTHORITY_HOST') ?? 'http://169.254.169.254';
  return {
    url: `${host.replace(/\/+$/, '')}/metadata/identity/oauth2/token?${query('2018-02-01')}`,
    headers: { metadata: 'true' },
  };
}

async function fromServer(
  { url, body, headers = {} }: TokenRequest,
  { send, now }: { readonly send: typeof fetch; readonly now: () => number },
): Promise<Token> {
  const response = await send(url, {
    ...(body === undefined ? { method: 'GET' } : { method: 'POST', body }),
    headers,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const said = objectOf(parseJson(await response.text()));
  const text = textOf(said?.access_token);
  if (text === undefined) {
    throw new Error(
      textOf(said?.error_description)?.split('\n')[0] ?? `${new URL(url).origin} answered with ${response.status}`,
    );
  }
  // A machine's identity writes its numbers as text.
  return { text, endsAtMs: now() + (numberOf(Number(said?.expires_in)) ?? 0) * 1000 };
}

async function fromCommandLine({ variables }: CloudSettings): Promise<Token> {
  const args = ['account', 'get-access-token', '--resource', RESOURCE, '--output', 'json'];
  const said = objectOf(parseJson(await outputOf('az', args, { env: variables, timeoutMs: TIMEOUT_MS })));
  const text = textOf(said?.accessToken);
  if (text === undefined) throw new Error('az printed no token');
  return { text, endsAtMs: (numberOf(said?.expires_on) ?? 0) * 1000 };
}
