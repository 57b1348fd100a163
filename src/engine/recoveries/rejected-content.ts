import type { Message } from '../../contracts/message.ts';
import type { ModelFailure, ModelRequest } from '../../contracts/model.ts';
import type { ExcludedContent } from '../../contracts/query.ts';
import {
  findNewestMedia,
  findRejectedRequestParts,
  hasUnstrippedMedia,
  type RejectedRequestPart,
} from '../request/rejected-parts.ts';

/** Limit for providers that reject one part after another. */
const MAX_ROUNDS = 16;

/** The rejected request, what it already omitted, and the number of earlier retries. */
type RejectedRequest = {
  readonly stripped: ExcludedContent;
  readonly view: readonly Message[];
  readonly request: ModelRequest;
  readonly round: number;
};

/** Content to omit from now on; `recorded` goes into the `recovery_end` event. */
type StrippedRetry = {
  readonly stripped: ExcludedContent;
  readonly recorded: { readonly detail: string; readonly until?: string; readonly refused?: readonly string[] };
  readonly message: string;
};

/** Decides which content to omit after the API rejected a request; `undefined` if that cannot help. */
export function stripRejectedContent(
  failure: ModelFailure | undefined,
  sent: RejectedRequest,
): StrippedRetry | undefined {
  if (failure === undefined || sent.round >= MAX_ROUNDS) return undefined;
  return (
    stripThinking(failure, sent) ??
    stripNamedMedia(failure, sent) ??
    stripNewestMedia(failure, sent) ??
    stripAllMedia(failure, sent) ??
    stripNamedPart(failure, sent)
  );
}

function stripThinking(failure: ModelFailure, { stripped, request }: RejectedRequest): StrippedRetry | undefined {
  const { refusedPart, refusedAt } = failure;
  const isThinking =
    refusedAt !== undefined && findRejectedRequestParts(request, refusedAt).some(({ kind }) => kind === 'thinking');
  if (failure.kind !== 'invalid' || stripped.thinking || !(refusedPart === 'signature' || isThinking)) return undefined;
  const message = 'The provider rejected earlier thinking; requests omit it from now on.';
  return { stripped: { ...stripped, thinking: true }, recorded: { detail: 'thinking' }, message: message };
}

/** Strips only the images that the provider names. */
function stripNamedMedia(failure: ModelFailure, sent: RejectedRequest): StrippedRetry | undefined {
  if (!rejectsMedia(failure) || failure.refusedAt === undefined) return undefined;
  const parts = findRejectedRequestParts(sent.request, failure.refusedAt);
  return parts.every(({ kind }) => kind === 'media') ? stripParts(parts, sent) : undefined;
}

/** Strips the images of the newest message with any: a provider that refuses one without naming it accepted the others. */
function stripNewestMedia(failure: ModelFailure, sent: RejectedRequest): StrippedRetry | undefined {
  // A second refusal means that the newest were not the reason.
  if (!rejectsMedia(failure) || sent.round > 0) return undefined;
  const parts = findNewestMedia(sent.request);
  return parts.length === 0 ? undefined : stripParts(parts, sent);
}

function rejectsMedia({ kind, refusedPart }: ModelFailure): boolean {
  return kind === 'media_too_large' || (kind === 'invalid' && refusedPart === 'image');
}

function stripAllMedia(failure: ModelFailure, { stripped, view }: RejectedRequest): StrippedRetry | undefined {
  const until = view.at(-1)?.id;
  const canHelp = stripped.images === undefined || hasUnstrippedMedia(view, stripped);
  if (!rejectsMedia(failure) || until === undefined || !canHelp) return undefined;
  const message = 'The provider rejected an image or document; requests omit all earlier ones from now on.';
  return { stripped: { ...stripped, images: until }, recorded: { detail: 'images', until }, message: message };
}

/** Strips the part that the provider names, whatever it is. */
function stripNamedPart(failure: ModelFailure, sent: RejectedRequest): StrippedRetry | undefined {
  if (failure.kind !== 'invalid' || failure.refusedAt === undefined) return undefined;
  return stripParts(findRejectedRequestParts(sent.request, failure.refusedAt), sent);
}

function stripParts(parts: readonly RejectedRequestPart[], { stripped }: RejectedRequest): StrippedRetry | undefined {
  const refused = [...new Set(parts.map(({ mark }) => mark))].filter((mark) => !stripped.refused.includes(mark));
  if (refused.length === 0) return undefined;
  const names = [...new Set(parts.map(({ name }) => name))].join(', ');
  const message = `The provider rejected a part of the request (${names}); requests omit it from now on.`;
  return {
    stripped: { ...stripped, refused: [...stripped.refused, ...refused] },
    recorded: { detail: 'part', refused },
    message: message,
  };
}
