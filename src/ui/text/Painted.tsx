import { Text } from 'ink';
import type { ReactElement } from 'react';
import type { Printable } from '../../lib/printable.ts';

type Piece = Printable | ReactElement;

type PaintedProps = {
  readonly children: Piece | readonly Piece[];
  readonly wrap?: 'truncate' | 'truncate-middle';
};

/** Ink's text, for nothing but what is fit to be printed: what was painted, and our own signs. */
export const Painted: (props: PaintedProps) => ReactElement | null = Text;
