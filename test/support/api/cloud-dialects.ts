import type { IncomingHttpHeaders } from 'node:http';
import { ANTHROPIC_DIALECT } from './anthropic-dialect.ts';
import { awsMessage } from './aws-event-stream.ts';
import type { Dialect, RequestBody, ServerEvent } from './dialect.ts';
import { refusedSignature } from './sigv4.ts';
import type { IssuedContent } from './validate-messages.ts';
import { isDict } from './values.ts';

/** Keys as AWS gives them out in its own examples. */
export const AWS_KEY = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

const BEDROCK_PATH = /^\/model\/([^/]+)\/invoke(-with-response-stream)?$/;
const VERTEX_PATH =
  /^\/v1\/projects\/([^/]+)\/locations\/([^/]+)\/publishers\/anthropic\/models\/([^/:]+):(rawPredict|streamRawPredict)$/;

/** Amazon Bedrock's runtime: requests are signed or bear a key, the model stands in the address, replies are binary. */
export const BEDROCK_DIALECT: Dialect = {
  ...ANTHROPIC_DIALECT,
  isConversation: (method, path) => method === 'POST' && BEDROCK_PATH.test(path),
  lookUp: () => undefined,
  read(path, body) {
    const [, model = '', stream] = BEDROCK_PATH.exec(path) ?? [];
    return { ...body, model: decodeURIComponent(model), stream: stream !== undefined };
  },
  refusedCredentials(headers, expected, request) {
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    if (bearer === undefined) return refusedSignature({ ...request, headers }, AWS_KEY);
    return expected === undefined || bearer === expected
      ? undefined
      : 'Authentication failed: the API key is not valid.';
  },
  violationOf(body, headers, issued) {
    const { anthropic_version, anthropic_beta, ...rest } = body;
    if (headers['anthropic-beta'] === undefined && anthropic_beta !== undefined)
      return 'anthropic_beta: what the header does not say';
    if (anthropic_version !== 'bedrock-2023-05-31') return 'anthropic_version: Invalid API version';
    if (rest.context_management !== undefined) return 'context_management: Extra inputs are not permitted';
    if (/fancy/.test(String(anthropic_beta))) return 'invalid beta flag';
    return violationOfOwn(rest, headers, issued);
  },
  frame: bedrockFrame,
  ping: awsMessage(
    { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' },
    chunk({ type: 'ping' }),
  ),
  contentType: 'application/vnd.amazon.eventstream',
  errorBody: ({ message }) => ({ message }),
};

/** Anthropic's own API on Amazon Bedrock: signed as well, but otherwise as everywhere. */
export const MANTLE_DIALECT: Dialect = {
  ...ANTHROPIC_DIALECT,
  isConversation: (method, path) => method === 'POST' && path === '/anthropic/v1/messages',
  refusedCredentials: BEDROCK_DIALECT.refusedCredentials,
};

/** Google's Vertex AI, with Google's own tokens. */
export const VERTEX_DIALECT: Dialect = {
  ...ANTHROPIC_DIALECT,
  isConversation: (method, path) => method === 'POST' && VERTEX_PATH.test(path) && !path.includes('/count-tokens:'),
  lookUp: (method, path, raw) =>
    method === 'POST' && path.includes('/models/count-tokens:rawPredict')
      ? { input_tokens: Math.ceil(raw.length / 4) }
      : undefined,
  read(path, body) {
    const [, , , model = ''] = VERTEX_PATH.exec(path) ?? [];
    return { ...body, model: decodeURIComponent(model) };
  },
  refusedCredentials(headers, expected) {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    return token === undefined || (expected !== undefined && token !== expected)
      ? 'Request had invalid authentication credentials. Expected OAuth 2 access token.'
      : undefined;
  },
  violationOf(body, headers, issued) {
    const { anthropic_version, ...rest } = body;
    if (anthropic_version !== 'vertex-2023-10-16') return 'anthropic_version: Field required';
    return violationOfOwn(rest, headers, issued);
  },
  errorBody: ({ status, message }) => ({
    error: { code: status, message, status: GOOGLE_NAMES[status] ?? 'INTERNAL' },
  }),
};

const GOOGLE_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** The rules of the Messages API hold here, too, once the address and the version are where they belong. */
function violationOfOwn(body: RequestBody, headers: IncomingHttpHeaders, issued: IssuedContent): string | undefined {
  return ANTHROPIC_DIALECT.violationOf(body, { ...headers, 'anthropic-version': 'in the body' }, issued);
}

function chunk(data: unknown): string {
  return JSON.stringify({ bytes: Buffer.from(JSON.stringify(data)).toString('base64'), p: 'abcdefgh' });
}

/** Errors in the middle of a stream are exceptions of AWS. */
function bedrockFrame({ event, data }: ServerEvent): Uint8Array {
  const type = { ':content-type': 'application/json' };
  if (event !== 'error') return awsMessage({ ':message-type': 'event', ':event-type': 'chunk', ...type }, chunk(data));
  const said = isDict(data) && isDict(data.error) ? data.error : {};
  const name = said.type === 'overloaded_error' ? 'serviceUnavailableException' : 'internalServerException';
  return awsMessage(
    { ':message-type': 'exception', ':exception-type': name, ...type },
    JSON.stringify({ message: String(said.message) }),
  );
}
