import type { Stripped } from '../../contracts/query.ts';
import type { Turn } from '../turn.ts';

/** The API refuses to take back a signature or a picture: leave them out from here on, once each, and say so. */
export function heal(
  turn: Pick<Turn, 'failure'>,
  stripped: Stripped,
): { readonly stripped: Stripped; readonly part: keyof Stripped; readonly words: string } | undefined {
  const failure = turn.failure;
  if (failure?.kind === 'invalid' && failure.refusedPart === 'signature' && !stripped.thinking) {
    const words = 'The provider refused earlier thinking; it is left out of requests from here on.';
    return { stripped: { ...stripped, thinking: true }, part: 'thinking', words };
  }
  const refusedImage = failure?.kind === 'invalid' && failure.refusedPart === 'image';
  if ((refusedImage || failure?.kind === 'media_too_large') && !stripped.images) {
    const words = 'The provider refused an image or document; pictures are left out of requests from here on.';
    return { stripped: { ...stripped, images: true }, part: 'images', words };
  }
  return undefined;
}
