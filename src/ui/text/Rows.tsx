import { Text } from 'ink';
import { memo, type ReactElement } from 'react';
import { joinPrintable, type Printable, printable } from '../../lib/printable.ts';
import { useScreenContext } from './render-context.ts';
import { paintRow, type ScreenRow } from './render-lines.ts';

/** Rows that already fit the width, one below the other, painted in the colors of the theme. */
export function Rows({ rows }: { readonly rows: readonly ScreenRow[] }) {
  const { paint } = useScreenContext();
  if (rows.length === 0) return null;
  // Ink drops empty rows at the start and end of a text, so they get a space.
  const painted = rows.map((row) => paintRow(row, { paint, links: 'printed' }) || printable` `);
  return <MemoizedText text={joinPrintable(painted, printable`\n`)} />;
}

/** Text that Ink lays out again only when it has changed. */
const MemoizedText = memo(function MemoizedText({ text }: { readonly text: Printable }) {
  return <PrintableText wrap="truncate">{text}</PrintableText>;
});

type PrintableChild = Printable | ReactElement;

type PaintedProps = {
  readonly children: PrintableChild | readonly PrintableChild[];
  readonly wrap?: 'truncate' | 'truncate-middle';
};

/** Ink's `Text`, restricted to sanitized text: painted text and fixed symbols. */
export const PrintableText: (props: PaintedProps) => ReactElement | null = Text;
