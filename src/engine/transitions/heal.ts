import type { Message } from '../../contracts/message.ts';
import type { Stripped } from '../../contracts/query.ts';
import { hasFreshPictures } from '../repair/leave-out.ts';
import type { Turn } from '../turn.ts';

/** The API refuses to take back a signature or a picture: leave them out from here on, once each, and say so. */
export function heal(
  turn: Pick<Turn, 'failure'>,
  stripped: Stripped,
  sent: readonly Message[],
): { readonly stripped: Stripped; readonly part: keyof Stripped; readonly words: string } | undefined {
  const failure = turn.failure;
  if (failure?.kind === 'invalid' && failure.refusedPart === 'signature' && !stripped.thinking) {
    const words = 'The provider refused earlier thinking; it is left out of requests from here on.';
    return { stripped: { ...stripped, thinking: true }, part: 'thinking', words };
  }
  const refusedImage = failure?.kind === 'invalid' && failure.refusedPart === 'image';
  const until = sent.at(-1)?.id;
  const mayHelp = stripped.images === undefined || hasFreshPictures(sent, stripped);
  if ((refusedImage || failure?.kind === 'media_too_large') && until !== undefined && mayHelp) {
    const words =
      'The provider refused an image or document; the pictures so far are left out of requests from here on.';
    return { stripped: { ...stripped, images: until }, part: 'images', words };
  }
  return undefined;
}
