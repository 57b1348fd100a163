import type { Message } from '../../contracts/message.ts';
import type { ModelFailure, ModelRequest } from '../../contracts/model.ts';
import type { Stripped } from '../../contracts/query.ts';
import { isPictureName, THINKING } from '../repair/block-names.ts';
import { hasFreshPictures } from '../repair/leave-out.ts';
import { type RefusedPart, refusedParts } from '../repair/refused.ts';

/** Each round is a request that was refused: who names one place after the other is not asked for ever. */
const MOST_ROUNDS = 16;

/** What was sent, what it left out already, and how often it was healed before. */
type Refused = {
  readonly stripped: Stripped;
  readonly view: readonly Message[];
  readonly request: ModelRequest;
  readonly round: number;
};

/** What is left out from here on; `left` goes on record. */
type Healed = {
  readonly stripped: Stripped;
  readonly left: { readonly detail: string; readonly until?: string; readonly refused?: readonly string[] };
  readonly words: string;
};

/** The API refuses to take something back: it is left out from here on, once each, and that is said. */
export function heal(failure: ModelFailure | undefined, sent: Refused): Healed | undefined {
  if (failure === undefined || sent.round >= MOST_ROUNDS) return undefined;
  return (
    withoutThinking(failure, sent) ??
    withoutNamedPicture(failure, sent) ??
    withoutPictures(failure, sent) ??
    withoutPart(failure, sent)
  );
}

function withoutThinking(failure: ModelFailure, { stripped, request }: Refused): Healed | undefined {
  const { refusedPart, refusedAt } = failure;
  const isThinking = refusedAt !== undefined && refusedParts(request, refusedAt).some(({ name }) => name === THINKING);
  if (failure.kind !== 'invalid' || stripped.thinking || !(refusedPart === 'signature' || isThinking)) return undefined;
  const words = 'The provider refused earlier thinking; it is left out of requests from here on.';
  return { stripped: { ...stripped, thinking: true }, left: { detail: 'thinking' }, words };
}

/** Where the provider says which picture it was, the others stay. */
function withoutNamedPicture(failure: ModelFailure, sent: Refused): Healed | undefined {
  if (!refusesPicture(failure) || failure.refusedAt === undefined) return undefined;
  const parts = refusedParts(sent.request, failure.refusedAt);
  return parts.every(({ name }) => isPictureName(name)) ? withoutParts(parts, sent) : undefined;
}

function refusesPicture({ kind, refusedPart }: ModelFailure): boolean {
  return kind === 'media_too_large' || (kind === 'invalid' && refusedPart === 'image');
}

function withoutPictures(failure: ModelFailure, { stripped, view }: Refused): Healed | undefined {
  const until = view.at(-1)?.id;
  const mayHelp = stripped.images === undefined || hasFreshPictures(view, stripped);
  if (!refusesPicture(failure) || until === undefined || !mayHelp) return undefined;
  const words = 'The provider refused an image or document; the pictures so far are left out of requests from here on.';
  return { stripped: { ...stripped, images: until }, left: { detail: 'images', until }, words };
}

/** The last resort: whatever stands where the provider points. */
function withoutPart(failure: ModelFailure, sent: Refused): Healed | undefined {
  if (failure.kind !== 'invalid' || failure.refusedAt === undefined) return undefined;
  return withoutParts(refusedParts(sent.request, failure.refusedAt), sent);
}

function withoutParts(parts: readonly RefusedPart[], { stripped }: Refused): Healed | undefined {
  const refused = [...new Set(parts.map(({ mark }) => mark))].filter((mark) => !stripped.refused.includes(mark));
  if (refused.length === 0) return undefined;
  const named = [...new Set(parts.map(({ name }) => name))].join(', ');
  const words = `The provider refused a part of the request (${named}); it is left out of requests from here on.`;
  return {
    stripped: { ...stripped, refused: [...stripped.refused, ...refused] },
    left: { detail: 'part', refused },
    words,
  };
}
