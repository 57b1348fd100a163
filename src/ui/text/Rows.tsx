import { memo } from 'react';
import { joinPrinted, type Printable, printed } from '../../lib/printable.ts';
import { Painted } from './Painted.tsx';
import { paintRow, type Row } from './render-lines.ts';
import { useLook } from './use-look.ts';

/** Rows that fit already, one below the other, in the colours of the theme. */
export function Rows({ rows }: { readonly rows: readonly Row[] }) {
  const { paint } = useLook();
  if (rows.length === 0) return null;
  // An empty row would be swallowed at the ends of a text.
  const painted = rows.map((row) => paintRow(row, { paint, links: 'printed' }) || printed` `);
  return <Same text={joinPrinted(painted, printed`\n`)} />;
}

/** Text that is the same as before is not laid out again. */
const Same = memo(function Same({ text }: { readonly text: Printable }) {
  return <Painted wrap="truncate">{text}</Painted>;
});
