import { z } from 'zod';
import { getErrorMessage } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import { runShellCommand } from '../../lib/processes/find-shell.ts';
import { requireProgramOutput } from '../../lib/processes/run-program.ts';
import { startOutsideWorkspace } from '../../lib/programs/start-outside-workspace.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import type { McpLoginConfig } from '../configured-mcp-server.ts';
import { fetchFromAuthServer } from './auth-server-fetch.ts';

/** An enterprise identity provider that authorizes access to MCP servers centrally. */
export type McpIdentityProvider = NonNullable<McpLoginConfig['identityProvider']>;

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ASSERTION = 'urn:ietf:params:oauth:token-type:id-jag';
const MESSAGE_CHARS = 300;

const assertionResponse = z.object({
  access_token: z.string().min(1),
  issued_token_type: z.literal(ASSERTION),
  scope: z.string().optional(),
});
const errorResponse = z.object({ error: z.string(), error_description: z.string().optional() });

type AssertionRequest = {
  readonly identityProvider: McpIdentityProvider;
  readonly idToken: string;
  /** The authorization server that will accept the assertion. */
  readonly audience: string;
  /** The MCP server to be accessed. */
  readonly resource: string;
  readonly scopes: readonly string[];
};

/** A signed assertion for an authorization server, and the scopes it covers. */
type Assertion = { readonly token: string; readonly scopes: readonly string[] };

/** Requests an assertion about the user from the identity provider, for one MCP server (RFC 8693). */
export async function requestAssertion({
  identityProvider,
  idToken,
  audience,
  resource,
  scopes,
}: AssertionRequest): Promise<Assertion> {
  const { tokenEndpoint, clientId, clientSecret } = identityProvider;
  const issuer = `The identity provider ${new URL(tokenEndpoint).origin}`;
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
  const response = await postForm(tokenEndpoint, form, createBasicAuth(clientId, clientSecret)).catch((cause) => {
    throw new Error(`${issuer} could not be reached: ${sanitizeUntrustedLine(getErrorMessage(cause), MESSAGE_CHARS)}`, {
      cause,
    });
  });
  if (!response.ok)
    throw new Error(`${issuer} issued no assertion: ${describeTokenError(response.text, response.status)}.`);
  const parsed = assertionResponse.safeParse(parseJson(response.text));
  if (!parsed.success) throw new Error(`${issuer} answered without an assertion (${ASSERTION}).`);
  const { access_token: token, scope } = parsed.data;
  // The granted scopes may be fewer than the requested ones.
  return { token, scopes: scope === undefined ? scopes : scope.split(' ').filter((name) => name !== '') };
}

async function postForm(
  address: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
) {
  const response = await fetchFromAuthServer(address, {
    method: 'POST',
    headers: { accept: 'application/json', ...headers },
    body: new URLSearchParams(form),
    redirect: 'error',
  });
  return { ok: response.ok, status: response.status, text: await response.text() };
}

/** Creates the Basic header; id and secret are form-encoded first (RFC 6749, 2.3.1). */
function createBasicAuth(id: string, secret: string | undefined): Readonly<Record<string, string>> {
  if (secret === undefined) return {};
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return { authorization: `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}` };
}

/** Describes the error response of a token endpoint: its error code and description, else the HTTP status. */
export function describeTokenError(body: string, status: number): string {
  const parsed = errorResponse.safeParse(parseJson(body));
  if (!parsed.success) return `HTTP status ${status}`;
  const { error, error_description: description } = parsed.data;
  return sanitizeUntrustedLine(
    [error, ...(description ? [description.replace(/\.$/, '')] : [])].join(': '),
    MESSAGE_CHARS,
  );
}

/** The folder the id token command runs in, and a function returning its current environment. */
export type IdTokenCommandEnvironment = { readonly cwd: string; readonly env: () => Readonly<Record<string, string>> };

/** Enough for a second factor, and shorter than a server's start limit. */
const COMMAND_TIMEOUT_MS = 25_000;
const ERROR_CHARS = 300;

/** Reads the user's id token from the entry or from the output of its command. */
export async function readIdToken(
  { idToken, idTokenCommand }: McpIdentityProvider,
  { cwd, env }: IdTokenCommandEnvironment,
  timeoutMs = COMMAND_TIMEOUT_MS,
): Promise<string> {
  if (idTokenCommand === undefined) return idToken ?? '';
  const result = await runShellCommand('sh', idTokenCommand, {
    cwd,
    env: env(),
    timeoutMs,
    killSignal: 'SIGKILL',
    check: startOutsideWorkspace,
    use: 'reads',
  });
  let text: string;
  try {
    text = requireProgramOutput('it', result).trim();
  } catch (cause) {
    const lastLine = getErrorMessage(cause).trim().split('\n').at(-1) ?? '';
    throw new Error(`The id token command (idTokenCommand) failed: ${sanitizeUntrustedLine(lastLine, ERROR_CHARS)}`, {
      cause,
    });
  }
  if (/^\S+$/.test(text)) return text;
  const problem = text === '' ? 'no id token' : 'more than an id token';
  throw new Error(`The id token command (idTokenCommand) printed ${problem}.`);
}
