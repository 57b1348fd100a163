import type { JsonValue } from '../../contracts/json.ts';
import type { FailureKind, ModelFailure, RefusedPosition } from '../../contracts/model.ts';
import { redactSecrets } from '../../lib/text/redact-secrets.ts';
import { narrowToObject, narrowToObjects, narrowToString, parseNetworkJson } from './json-values.ts';
import { readRateLimitReset } from './rate-limit-reset.ts';

/** An error response of a provider. */
type ErrorResponse = {
  readonly status: number | undefined;
  readonly body: string;
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | null | undefined;
};

/** Classifies an error response by its status; the provider's error type and message only refine the result. */
export function classifyErrorResponse(errorResponse: ErrorResponse): ModelFailure {
  const { reportedKind, status, message } = parseErrorBody(errorResponse.body);
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

function classifyKind(reportedKind: FailureKind | undefined, status: number | undefined): FailureKind {
  if (status === undefined) return reportedKind ?? 'server';
  const statusKind = KIND_BY_STATUS.get(status) ?? (status >= 500 ? 'server' : 'invalid');
  return reportedKind !== undefined && REFINEMENTS[statusKind]?.includes(reportedKind) ? reportedKind : statusKind;
}

/** Kinds that a provider's error type may refine a status to. A status that is final is never made retryable. */
const REFINEMENTS: Readonly<Partial<Record<FailureKind, readonly FailureKind[]>>> = {
  invalid: ['auth', 'no_credit', 'not_found', 'too_long'],
  auth: ['no_credit', 'not_found'],
  rate_limited: ['auth', 'no_credit', 'overloaded', 'too_long'],
  server: ['overloaded', 'rate_limited', 'too_long'],
};

/** Refines the kind by the message, because many causes share status 400 and have no type of their own. */
function refineKind(kind: FailureKind, message: string): FailureKind {
  if ((kind === 'auth' || kind === 'rate_limited') && MISSING_CREDIT.test(message)) return 'no_credit';
  if (kind === 'not_found' && REJECTED_IMAGE.test(message)) return 'invalid';
  if (kind !== 'invalid' && kind !== 'too_long' && kind !== 'server') return kind;
  if (MEDIA_TOO_LARGE.test(message)) return 'media_too_large';
  if (kind === 'invalid' && REJECTED_KEY.test(message)) return 'auth';
  if (kind === 'invalid' && (MISSING_CREDIT.test(message) || INACTIVE_ACCOUNT.test(message))) return 'no_credit';
  if (TOO_LONG.test(message)) return 'too_long';
  if (kind === 'invalid' && OUTPUT_LIMIT.test(message)) return 'output_limit';
  // Some local servers answer 500 to an image they do not support; a retry would fail again.
  if (kind === 'server' && (REJECTED_IMAGE.test(message) || locateRefusedPlace(message))) return 'invalid';
  return kind;
}

const MEDIA_TOO_LARGE =
  /image (?:exceeds|dimensions exceed|is too large|size)|image.{0,40}(?:exceeds|too large|maximum)|too many images|pdf.{0,60}(?:pages|too large|exceeds)|document.{0,40}too large/i;
const TOO_LONG =
  /prompt is too long|exceeds? (?:the )?(?:available |maximum )?context|context (?:length|window|size|limit)|input is too long|too many (?:input )?tokens|input token count.{0,40}exceeds|exceeds? (?:the )?n_ctx|reduce the length of the (?:messages|prompt|input)|(?:input|prompt) length.{0,40}(?:exceed|should be)|(?:request|prompt|input).{0,20} exceed\w* (?:the )?(?:model |maximum )?(?:token |length )?(?:limit|length)|`inputs` tokens \+|request body is too large/i;
/** Google reports a rejected key with status 400. */
const REJECTED_KEY = /\bapi key (?:not valid|expired|not found|is invalid)/i;
/** Anthropic reports an empty balance with status 400 and the type of an invalid request. */
const MISSING_CREDIT =
  /credit balance is too low|insufficient (?:credits?|balance|funds)|purchase credits|out of credits?|credit balance is exhausted/i;
const INACTIVE_ACCOUNT = /billing details/i;
const OUTPUT_LIMIT = /max_(?:completion_)?tokens.{0,80}(?:maximum|too large|greater than|exceed|>)/i;

function detectRefusedPart(message: string): 'signature' | 'image' | undefined {
  if (REJECTED_SIGNATURE.test(message)) return 'signature';
  return REJECTED_IMAGE.test(message) ? 'image' : undefined;
}

const REJECTED_SIGNATURE =
  /signature|encrypted content.{0,60}(?:could not|cannot)|reasoning.{0,80}without its required|without its required .?reasoning|(?:reasoning\w*|extra_content).{0,80}(?:unsupported|not supported|not permitted|unexpected|unrecognized|unknown|extra)|(?:unsupported|not supported|not permitted|unexpected|unrecognized|unknown|extra).{0,80}(?:reasoning_(?:content|details)|extra_content)|thinking.{0,120}(?:cannot be modified|must (?:remain|start)|prefix|does not match|another account)|expected.{0,20}thinking/i;
const REJECTED_IMAGE =
  /could not process image|(?:process|load) (?:the |input )*image|image: unknown format|image is not valid|not represent a valid image|(?:invalid|unsupported) image|image.{0,80}(?:not supported|unsupported|invalid|corrupt|does not match|cannot be empty|appears to be)|image_url|not support (?:images?|vision|multimodal)|found that support image|image\(s\) may be provided|missing data required for image/i;

/** Parses the rejected position as Anthropic (`messages.3.content.0`) and OpenAI (`messages[3].content[0]`) write it. */
function locateRefusedPlace(message: string): RefusedPosition | undefined {
  const toolIndex = /\btools[.[]+(\d+)/.exec(message)?.[1];
  const [, messageIndex, blockIndex, partIndex] = MESSAGE_POSITION.exec(message) ?? [];
  if (messageIndex === undefined) return toolIndex === undefined ? undefined : { tool: Number(toolIndex) };
  return {
    message: Number(messageIndex),
    ...(blockIndex !== undefined && { blocks: [Number(blockIndex)] }),
    ...(partIndex !== undefined && { part: Number(partIndex) }),
  };
}

const MESSAGE_POSITION =
  /\bmessages[.[]+(\d+)\]?(?:\.(?:content|tool_calls)[.[]+(\d+)\]?(?:\.tool_result)?(?:\.content[.[]+(\d+))?)?/;

/** Parses an error body: JSON with or without an envelope, a list, plain text, or an upstream error inside another. */
function parseErrorBody(body: string) {
  const parsed = parseNetworkJson(body);
  const root = narrowToObject(parsed) ?? narrowToObjects(parsed)[0];
  if (!root) return { reportedKind: undefined, status: undefined, message: toPlainText(body) };
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
    reportedKind: reportedKind,
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
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1];
  const text = (title ?? body.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ').trim();
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Parses Google's retry delay, which is in the body: `"retryDelay": "34s"`. */
function parseRetryDelay(body: string): number | undefined {
  const seconds = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : acceptDelay(Number(seconds) * 1000);
}

function readRetryAfter(header: ErrorResponse['header']): number | undefined {
  const ms = Number(header('retry-after-ms') || Number.NaN);
  if (ms >= 0) return acceptDelay(ms);
  const retryAfter = header('retry-after')?.trim();
  if (!retryAfter) return undefined;
  const seconds = Number(retryAfter);
  if (seconds >= 0) return acceptDelay(seconds * 1000);
  return Number.isNaN(seconds) ? acceptDelay(Math.max(0, Date.parse(retryAfter) - Date.now())) : undefined;
}

/** No limit lasts longer than a month; a longer delay is a mistake. */
const MAX_DELAY_MS = 31 * 24 * 3_600_000;

function acceptDelay(ms: number): number | undefined {
  return ms <= MAX_DELAY_MS ? ms : undefined;
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

/** Failure kinds by the provider's error type or code in lower case. */
const KIND_BY_TYPE: ReadonlyMap<string, FailureKind> = new Map([
  ['overloaded_error', 'overloaded'],
  ['engine_overloaded_error', 'overloaded'],
  ['unavailable', 'overloaded'],
  ['insufficient_system_resource', 'overloaded'],
  ['rate_limit_error', 'rate_limited'],
  ['rate_limit_exceeded', 'rate_limited'],
  ['resource_exhausted', 'rate_limited'],
  ['authentication_error', 'auth'],
  ['permission_error', 'auth'],
  ['billing_error', 'no_credit'],
  ['insufficient_quota', 'no_credit'],
  ['exceeded_current_quota_error', 'no_credit'],
  ['invalid_api_key', 'auth'],
  ['unauthenticated', 'auth'],
  ['permission_denied', 'auth'],
  ['not_found_error', 'not_found'],
  ['model_not_found', 'not_found'],
  ['not_found', 'not_found'],
  ['request_too_large', 'too_long'],
  ['context_length_exceeded', 'too_long'],
  ['exceed_context_size_error', 'too_long'],
  ['invalid_request_error', 'invalid'],
  ['invalid_argument', 'invalid'],
  ['throttlingexception', 'rate_limited'],
  ['servicequotaexceededexception', 'rate_limited'],
  ['serviceunavailableexception', 'overloaded'],
  ['modelnotreadyexception', 'overloaded'],
  ['modeltimeoutexception', 'server'],
  ['modelstreamerrorexception', 'server'],
  ['internalserverexception', 'server'],
  ['validationexception', 'invalid'],
  ['accessdeniedexception', 'auth'],
  ['expiredtokenexception', 'auth'],
  ['resourcenotfoundexception', 'not_found'],
  ['api_error', 'server'],
  ['timeout_error', 'server'],
  ['server_error', 'server'],
]);

/** Failure kinds by HTTP status. */
const KIND_BY_STATUS: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'auth'],
  [402, 'no_credit'],
  [403, 'auth'],
  [404, 'not_found'],
  [408, 'server'],
  [409, 'server'],
  [410, 'not_found'],
  [413, 'too_long'],
  // Amazon Bedrock: the model failed.
  [424, 'server'],
  [425, 'server'],
  [429, 'rate_limited'],
  [529, 'overloaded'],
]);
