import type { JsonValue } from '../../contracts/json.ts';
import type { FailureKind, ModelFailure, RefusedPlace } from '../../contracts/model.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';
import { KIND_BY_STATUS, KIND_BY_TYPE } from './failure-kinds.ts';
import { readReset } from './limit-reset.ts';
import { objectOf, objectsOf, parseJson, textOf } from './wire-json.ts';

/** What a provider answered instead of a reply. */
export type ErrorResponse = {
  readonly status: number | undefined;
  readonly body: string;
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | null | undefined;
};

/** Names what went wrong by its status; the provider's own error type and words may only say it more exactly. */
export function classifyResponse(given: ErrorResponse): ModelFailure {
  const { said, status, message } = readBody(given.body);
  const response = { ...given, status: given.status ?? status };
  const kind = refine(kindOf(said, response.status), message);
  const retryAfterMs = readRetryAfter(response.header) ?? readRetryDelay(given.body);
  // A wish says more than when the limit is whole again.
  const resetsAfterMs =
    kind === 'rate_limited' && retryAfterMs === undefined ? readReset(response.header, Date.now()) : undefined;
  const requestId = requestIdOf(response.header);
  const refusedPart = kind === 'invalid' ? refusedPartOf(message) : undefined;
  const refusedAt = kind === 'invalid' ? refusedPlaceOf(message) : undefined;
  return {
    kind,
    // Some gateways repeat the key they refuse, and failures are shown and stored.
    message: withoutSecrets(describe(kind, response, message)),
    ...(response.status !== undefined && { status: response.status }),
    ...(requestId && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(resetsAfterMs !== undefined && { resetsAfterMs }),
    ...(refusedPart && { refusedPart }),
    ...(refusedAt && { refusedAt }),
  };
}

/** What the provider calls a request, by the names that places have for it. */
export function requestIdOf(header: ErrorResponse['header']): string | undefined {
  return REQUEST_IDS.map(header).find((id) => typeof id === 'string') ?? undefined;
}

const REQUEST_IDS = ['request-id', 'x-request-id', 'x-amzn-requestid', 'apim-request-id'];

/** Another try of the same request may help. Everything else would only fail again. */
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

function kindOf(said: FailureKind | undefined, status: number | undefined): FailureKind {
  if (status === undefined) return said ?? 'server';
  const own = KIND_BY_STATUS.get(status) ?? (status >= 500 ? 'server' : 'invalid');
  return said !== undefined && MORE_EXACT[own]?.includes(said) ? said : own;
}

/** What a vague status may turn out to be. What is final by its status is never tried again, whatever it is called. */
const MORE_EXACT: Readonly<Partial<Record<FailureKind, readonly FailureKind[]>>> = {
  invalid: ['auth', 'not_found', 'too_long'],
  auth: ['not_found'],
  rate_limited: ['auth', 'overloaded', 'too_long'],
  server: ['overloaded', 'rate_limited', 'too_long'],
};

/** Some causes are only told in words; the status is the same 400 for all of them. */
function refine(kind: FailureKind, message: string): FailureKind {
  if (kind !== 'invalid' && kind !== 'too_long' && kind !== 'server') return kind;
  if (MEDIA_TOO_LARGE.test(message)) return 'media_too_large';
  if (kind === 'invalid' && REFUSED_KEY.test(message)) return 'auth';
  if (TOO_LONG.test(message)) return 'too_long';
  if (kind === 'invalid' && OUTPUT_LIMIT.test(message)) return 'output_limit';
  // Some local servers answer 500 to a picture they cannot see; trying again would not help.
  if (kind === 'server' && (REFUSED_IMAGE.test(message) || refusedPlaceOf(message))) return 'invalid';
  return kind;
}

const MEDIA_TOO_LARGE =
  /image (?:exceeds|dimensions exceed|is too large|size)|image.{0,40}(?:exceeds|too large|maximum)|too many images|pdf.{0,60}(?:pages|too large|exceeds)|document.{0,40}too large/i;
const TOO_LONG =
  /prompt is too long|exceeds? (?:the )?(?:available |maximum )?context|context (?:length|window|size|limit)|input is too long|too many (?:input )?tokens|input token count.{0,40}exceeds/i;
/** Google says so with a 400. */
const REFUSED_KEY = /\bapi key (?:not valid|expired|not found|is invalid)/i;
const OUTPUT_LIMIT = /max_(?:completion_)?tokens.{0,80}(?:maximum|too large|greater than|exceed|>)/i;

function refusedPartOf(message: string): 'signature' | 'image' | undefined {
  if (REFUSED_SIGNATURE.test(message)) return 'signature';
  return REFUSED_IMAGE.test(message) ? 'image' : undefined;
}

const REFUSED_SIGNATURE =
  /signature|encrypted content.{0,60}(?:could not|cannot)|reasoning.{0,80}without its required|without its required .?reasoning|(?:reasoning\w*|extra_content).{0,80}(?:unsupported|not supported|not permitted|unexpected|unrecognized|unknown|extra)|(?:unsupported|not supported|not permitted|unexpected|unrecognized|unknown|extra).{0,80}(?:reasoning_(?:content|details)|extra_content)|thinking.{0,120}(?:cannot be modified|must (?:remain|start)|prefix|does not match|another account)|expected.{0,20}thinking/i;
const REFUSED_IMAGE =
  /could not process image|not represent a valid image|(?:invalid|unsupported) image|image.{0,80}(?:not supported|unsupported|invalid|corrupt|does not match|cannot be empty|appears to be)|image_url|not support (?:images?|vision)|missing data required for image/i;

/** The place as Anthropic (`messages.3.content.0`), OpenAI (`messages[3].content[0]`) and their gateways write it. */
function refusedPlaceOf(message: string): RefusedPlace | undefined {
  const tool = /\btools[.[]+(\d+)/.exec(message)?.[1];
  const [, at, block, part] = MESSAGE_PLACE.exec(message) ?? [];
  if (at === undefined) return tool === undefined ? undefined : { tool: Number(tool) };
  return {
    message: Number(at),
    ...(block !== undefined && { blocks: [Number(block)] }),
    ...(part !== undefined && { part: Number(part) }),
  };
}

const MESSAGE_PLACE =
  /\bmessages[.[]+(\d+)\]?(?:\.(?:content|tool_calls)[.[]+(\d+)\]?(?:\.tool_result)?(?:\.content[.[]+(\d+))?)?/;

/** What an error body says: with or without an envelope, in a list, as plain words, or with what another server said inside. */
function readBody(body: string) {
  const parsed = parseJson(body);
  const whole = objectOf(parsed) ?? objectsOf(parsed)[0];
  if (!whole) return { said: undefined, status: undefined, message: plainWords(body) };
  const inner = objectOf(whole.error) ?? objectsOf(whole.errors)[0] ?? whole;
  const names = [textOf(inner.code), textOf(inner.status), textOf(inner.type)];
  const said = names.map((name) => KIND_BY_TYPE.get(name?.toLowerCase() ?? '')).find((kind) => kind !== undefined);
  const words =
    textOf(inner.message) ?? textOf(whole.error) ?? textOf(whole.message) ?? detailOf(whole.detail ?? whole.message);
  const raw = textOf(objectOf(inner.metadata)?.raw);
  const code = Number(inner.code ?? inner.status ?? Number.NaN);
  return {
    said,
    status: code >= 400 && code < 600 ? code : undefined,
    message: raw === undefined ? words : `${words}: ${plainWords(raw)}`,
  };
}

/** Some servers list what they refuse, each with its place in the request. */
function detailOf(given: JsonValue | undefined): string {
  const detail = objectOf(given)?.detail ?? given;
  const [first] = objectsOf(detail);
  const place = Array.isArray(first?.loc) ? `${first.loc.join('.')}: ` : '';
  return textOf(detail) ?? `${place}${textOf(first?.msg) ?? ''}`;
}

/** A proxy's page is reduced to its title or first words. */
function plainWords(body: string): string {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1];
  const words = (title ?? body.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ').trim();
  return words.length > 200 ? `${words.slice(0, 200)}…` : words;
}

/** Google says in the body when to come back: `"retryDelay": "34s"`. */
function readRetryDelay(body: string): number | undefined {
  const seconds = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

function readRetryAfter(header: ErrorResponse['header']): number | undefined {
  const ms = Number(header('retry-after-ms') ?? Number.NaN);
  if (ms >= 0) return ms;
  const wish = header('retry-after');
  if (!wish) return undefined;
  const seconds = Number(wish);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(wish);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

function describe(kind: FailureKind, response: ErrorResponse, detail: string): string {
  const code = response.status === undefined ? '' : ` (${response.status})`;
  const said = detail === '' ? '' : `: ${detail}`;
  const { status } = response;
  if (status !== undefined && status >= 300 && status < 400) {
    const target = response.header('location') ?? 'another address';
    return `The API address redirects to ${target}${code}. Set the base URL to the address it should use.`;
  }
  const advice = WANTS_CERTIFICATE.test(detail) ? ` ${CLIENT_CERTIFICATE}` : (ADVICE[kind] ?? '');
  return `${LEADS[kind]}${code}${said}${detail === '' || /[.!?]$/.test(detail) ? '' : '.'}${advice}`.trim();
}

const WANTS_CERTIFICATE = /required SSL certificate|SSL certificate error|client certificate|mutual TLS|mTLS/i;
/** What to do when a server wants to know who we are. */
export const CLIENT_CERTIFICATE =
  'A client certificate is set with CLAUDE_CODE_CLIENT_CERT and CLAUDE_CODE_CLIENT_KEY, the files that hold it and its key.';

const LEADS: Readonly<Record<FailureKind, string>> = {
  aborted: 'Interrupted',
  stalled: 'The reply stalled',
  cut: 'The connection closed before the reply was complete',
  overloaded: 'The model is overloaded',
  rate_limited: 'The rate limit is reached',
  too_long: 'The conversation is too long for the model',
  media_too_large: 'An image or document is too large for the model',
  output_limit: 'The model cannot write that much in one reply',
  auth: 'The API refused the credentials',
  not_found: 'The API does not know this model or address',
  invalid: 'The API refused the request',
  refused: 'The model declined to answer',
  server: 'The API had an internal error',
  network: 'The API could not be reached',
};

const ADVICE: Readonly<Partial<Record<FailureKind, string>>> = {
  auth: ' Check the API key and what it is allowed to use.',
  not_found: ' Check the model name (/model) and the base URL.',
};
