import { z } from 'zod';
import type { McpIdentityProvider } from '../../contracts/settings.ts';
import { messageOf } from '../../lib/errors.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ASSERTION = 'urn:ietf:params:oauth:token-type:id-jag';
const TIMEOUT_MS = 20_000;
const WORDS_CHARS = 300;

const vouched = z.object({
  access_token: z.string().min(1),
  issued_token_type: z.literal(ASSERTION),
  scope: z.string().optional(),
});
const refusal = z.object({ error: z.string(), error_description: z.string().optional() });

type Wish = {
  readonly vouching: McpIdentityProvider;
  readonly idToken: string;
  /** The authorization server that is to believe it. */
  readonly audience: string;
  /** The MCP server it is about. */
  readonly resource: string;
  readonly scopes: readonly string[];
};

/** What an authorization server can be shown, and how far it reaches. */
export type Assertion = { readonly text: string; readonly scopes: readonly string[] };

/** Asks the identity provider to vouch for the person at one authorization server, for one MCP server (RFC 8693). */
export async function vouchedFor({ vouching, idToken, audience, resource, scopes }: Wish): Promise<Assertion> {
  const { tokenEndpoint, clientId, clientSecret } = vouching;
  const who = `The identity provider ${new URL(tokenEndpoint).origin}`;
  const form = {
    grant_type: EXCHANGE,
    requested_token_type: ASSERTION,
    subject_token: idToken,
    subject_token_type: ID_TOKEN,
    audience,
    resource,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    ...(clientSecret === undefined ? { client_id: clientId } : {}),
  };
  const said = await asked(tokenEndpoint, form, basicLogin(clientId, clientSecret)).catch((cause) => {
    throw new Error(`${who} could not be asked: ${untrustedLine(messageOf(cause), WORDS_CHARS)}`, { cause });
  });
  if (!said.ok) throw new Error(`${who} did not vouch for you: ${refusalWords(said.text, said.status)}.`);
  const answer = vouched.safeParse(parsed(said.text));
  if (!answer.success) throw new Error(`${who} answered with something else than an assertion (${ASSERTION}).`);
  const { access_token: text, scope } = answer.data;
  // It may vouch for less than was asked.
  return { text, scopes: scope === undefined ? scopes : scope.split(' ').filter((one) => one !== '') };
}

async function asked(
  address: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { accept: 'application/json', ...headers },
    body: new URLSearchParams(form),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { ok: response.ok, status: response.status, text: await response.text() };
}

/** Both parts are written as in a form before they are joined (RFC 6749, 2.3.1). */
function basicLogin(id: string, secret: string | undefined): Readonly<Record<string, string>> {
  if (secret === undefined) return {};
  const written = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return { authorization: `Basic ${Buffer.from(`${written(id)}:${written(secret)}`).toString('base64')}` };
}

/** Why a server of tokens says no, in its own words where it has some. */
export function refusalWords(body: string, status: number): string {
  const said = refusal.safeParse(parsed(body));
  if (!said.success) return `it answered with ${status}`;
  const { error, error_description: why } = said.data;
  return untrustedLine([error, ...(why ? [why.replace(/\.$/, '')] : [])].join(': '), WORDS_CHARS);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
