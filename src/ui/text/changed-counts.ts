import type { Glyphs } from '../theme/glyphs.ts';
import { type Span, toned } from './line.ts';

/** How many lines came and went: `+3 −2`, in the colours of a diff or in one quiet one. */
export function changedCounts(
  { added, removed }: { readonly added: number; readonly removed: number },
  { minus }: Pick<Glyphs, 'minus'>,
  colors: 'of a diff' | 'quiet' = 'quiet',
): readonly Span[] {
  if (colors === 'quiet') return [toned('dim', `+${added} ${minus}${removed}`)];
  return [toned('add', `+${added}`), toned('dim', ' '), toned('del', `${minus}${removed}`)];
}
