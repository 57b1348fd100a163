import type { JsonValue } from '../../contracts/json.ts';
import type { FailureKind, ModelFailure } from '../../contracts/model.ts';
import { truncate } from '../../lib/text/format.ts';
import { redactSecrets } from '../../lib/text/redact-secrets.ts';
import { classifyKind, detectRefusedPart, KIND_BY_TYPE, locateRefusedPlace, refineKind } from './failure-kind.ts';
import { narrowToObject, narrowToObjects, narrowToString, parseNetworkJson } from './json-values.ts';
import { acceptDelay, parseRetryDelay, readRateLimitReset, readRetryAfter } from './rate-limit-reset.ts';

/** An error response of a provider. */
type ErrorResponse = {
  readonly status: number | undefined;
  readonly body: string;
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | null | undefined;
};

/** Classifies an error response by its status; the provider's error type and message only refine the result. */
export function classifyErrorResponse(errorResponse: ErrorResponse): ModelFailure {
  const { isJson, reportedKind, status, message } = parseErrorBody(errorResponse.body);
  const response = { ...errorResponse, status: errorResponse.status ?? status };
  const kind = refineKind(classifyKind(reportedKind, response.status), message);
  const retryAfterMs = readRetryAfter(response.header) ?? parseRetryDelay(errorResponse.body);
  // An explicit `retry-after` is more useful than the reset time of the limit.
  const resetsAfterMs =
    kind === 'rate_limited' && retryAfterMs === undefined
      ? acceptDelay(readRateLimitReset(response.header, Date.now()) ?? Number.NaN)
      : undefined;
  const requestId = readRequestId(response.header);
  const refusedPart = kind === 'invalid' ? detectRefusedPart(message) : undefined;
  const refusedAt = kind === 'invalid' ? locateRefusedPlace(message) : undefined;
  const isForeign =
    !isJson && (kind === 'invalid' || kind === 'not_found') && refusedPart === undefined && refusedAt === undefined;
  return {
    kind,
    // Some gateways echo the rejected key, and failures are shown and stored.
    message: redactSecrets(formatMessage(kind, response, message)),
    ...(response.status !== undefined && { status: response.status }),
    ...(requestId && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(resetsAfterMs !== undefined && { resetsAfterMs }),
    ...(refusedPart && { refusedPart }),
    ...(refusedAt && { refusedAt }),
    ...(isForeign && { isForeign }),
  };
}

/** Reads the provider's request id from the headers. */
export function readRequestId(header: ErrorResponse['header']): string | undefined {
  return REQUEST_IDS.map(header).find((id) => typeof id === 'string') ?? undefined;
}

const REQUEST_IDS = ['request-id', 'x-request-id', 'x-amzn-requestid', 'apim-request-id'];

/** Returns true if repeating the same request may succeed. */
export function isRetryable(failure: ModelFailure): boolean {
  return RETRYABLE.has(failure.kind);
}

const RETRYABLE: ReadonlySet<FailureKind> = new Set([
  'stalled',
  'cut',
  'overloaded',
  'rate_limited',
  'server',
  'network',
]);

/** Parses an error body: JSON with or without an envelope, a list, plain text, or an upstream error inside another. */
function parseErrorBody(body: string) {
  const parsed = parseNetworkJson(body);
  const root = narrowToObject(parsed) ?? narrowToObjects(parsed)[0];
  if (!root) return { isJson: false, reportedKind: undefined, status: undefined, message: toPlainText(body) };
  const error = narrowToObject(root.error) ?? narrowToObjects(root.errors)[0] ?? root;
  const typeNames = [narrowToString(error.code), narrowToString(error.status), narrowToString(error.type)];
  const reportedKind = typeNames
    .map((name) => KIND_BY_TYPE.get(name?.toLowerCase() ?? ''))
    .find((kind) => kind !== undefined);
  const text =
    narrowToString(error.message) ??
    narrowToString(root.error) ??
    narrowToString(root.message) ??
    readDetail(root.detail ?? root.message);
  const raw = narrowToString(narrowToObject(error.metadata)?.raw);
  const code = Number(error.code ?? error.status ?? Number.NaN);
  return {
    isJson: true,
    reportedKind,
    status: code >= 400 && code < 600 ? code : undefined,
    message: raw === undefined ? text : `${text}: ${toPlainText(raw)}`,
  };
}

/** Reads the first entry of a list of validation errors, with its position in the request. */
function readDetail(value: JsonValue | undefined): string {
  const detail = narrowToObject(value)?.detail ?? value;
  const [first] = narrowToObjects(detail);
  const position = Array.isArray(first?.loc) ? `${first.loc.join('.')}: ` : '';
  return narrowToString(detail) ?? `${position}${narrowToString(first?.msg) ?? ''}`;
}

/** Reduces a proxy's HTML page to its title or the beginning of its text. */
function toPlainText(body: string): string {
  const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(body)?.[1];
  const text = (title ?? body.replace(/<[^<>]*>/g, ' ')).replace(/\s+/g, ' ').trim();
  return truncate(text, 200);
}

function formatMessage(kind: FailureKind, response: ErrorResponse, detail: string): string {
  const code = response.status === undefined ? '' : ` (${response.status})`;
  const detailText = detail === '' ? '' : `: ${detail}`;
  const { status } = response;
  if (status !== undefined && status >= 300 && status < 400) {
    const target = response.header('location') ?? 'another address';
    return `The API address redirects to ${target}${code}. Set the base URL to that address.`;
  }
  const sentence = `${SUMMARIES[kind]}${code}${detailText}`;
  return `${sentence}${/[.!?]$/.test(sentence) ? '' : '.'} ${getAdvice(kind, status, detail)}`.trim();
}

function getAdvice(kind: FailureKind, status: number | undefined, detail: string): string {
  if (CERTIFICATE_REQUIRED.test(detail)) return CLIENT_CERTIFICATE_HINT;
  if (status === 407) return 'Add a user name and password to the address of the proxy.';
  if (kind === 'invalid' && detail === '') return 'It gave no reason. Check the model name and the base URL.';
  return ADVICE[kind] ?? '';
}

const CERTIFICATE_REQUIRED = /required SSL certificate|SSL certificate error|client certificate|mutual TLS|mTLS/i;
/** Hint for servers that require a client certificate. */
export const CLIENT_CERTIFICATE_HINT =
  'To send a client certificate, set CLAUDE_CODE_CLIENT_CERT and CLAUDE_CODE_CLIENT_KEY to the files with the certificate and its key.';

const SUMMARIES: Readonly<Record<FailureKind, string>> = {
  aborted: 'Interrupted',
  stalled: 'The reply stalled',
  cut: 'The connection closed before the reply was complete',
  overloaded: 'The model is overloaded',
  rate_limited: 'The rate limit is reached',
  too_long: 'The conversation is too long for the model',
  media_too_large: 'An image or document is too large for the model',
  output_limit: 'The requested output limit is too high for the model',
  auth: 'The API refused the credentials',
  no_credit: 'The account at the provider has no credit left',
  not_found: 'The API has no such model or address',
  invalid: 'The API refused the request',
  refused: 'The model declined to answer',
  server: 'The API had an internal error',
  network: 'The API could not be reached',
};

const ADVICE: Readonly<Partial<Record<FailureKind, string>>> = {
  refused: 'Rephrase the request, or use another model.',
  too_long: 'Shorten the message, use /compact, or start a new session.',
  media_too_large: 'Make it smaller, or leave it out.',
  auth: 'Check the API key and its permissions.',
  no_credit: 'Add credit or a payment method there, or choose another provider with /model.',
  not_found: 'Check the model name and the base URL.',
};
