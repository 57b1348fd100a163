import type { FailureKind, RefusedPosition } from '../../contracts/model.ts';

/** Classifies a failure by its status; the error type of the provider only refines it. */
export function classifyKind(reportedKind: FailureKind | undefined, status: number | undefined): FailureKind {
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

/** Refines a kind by the message, because many causes share status 400 and have no type of their own. */
export function refineKind(kind: FailureKind, message: string): FailureKind {
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

/** Detects the kind of content that a message refuses. */
export function detectRefusedPart(message: string): 'signature' | 'image' | undefined {
  if (REJECTED_SIGNATURE.test(message)) return 'signature';
  return REJECTED_IMAGE.test(message) ? 'image' : undefined;
}

const REJECTED_SIGNATURE =
  /signature|encrypted content.{0,60}(?:could not|cannot)|reasoning.{0,80}without its required|without its required .?reasoning|(?:reasoning|extra_content).{0,100}(?:unsupported|not supported|not permitted|unexpected|unrecognized|unknown|extra)|(?:unsupported|not supported|not permitted|unexpected|unrecognized|unknown|extra).{0,80}(?:reasoning_(?:content|details)|extra_content)|thinking.{0,120}(?:cannot be modified|must (?:remain|start)|prefix|does not match|another account)|expected.{0,20}thinking/i;
const REJECTED_IMAGE =
  /could not process image|(?:process|load) (?:the |input )*image|image: unknown format|image is not valid|not represent a valid image|(?:invalid|unsupported) image|image.{0,80}(?:not supported|unsupported|invalid|corrupt|does not match|cannot be empty|appears to be)|image_url|not support (?:images?|vision|multimodal)|found that support image|image\(s\) may be provided|missing data required for image/i;

/** Parses the rejected position as Anthropic (`messages.3.content.0`) and OpenAI (`messages[3].content[0]`) write it. */
export function locateRefusedPlace(message: string): RefusedPosition | undefined {
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

/** Failure kinds by the provider's error type or code in lower case. */
export const KIND_BY_TYPE: ReadonlyMap<string, FailureKind> = new Map([
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
  // A gateway sent the request to a server for another host; another connection may reach the right one.
  [421, 'server'],
  // Amazon Bedrock: the model failed.
  [424, 'server'],
  [425, 'server'],
  [429, 'rate_limited'],
  [529, 'overloaded'],
]);
