import { Text } from 'ink';
import { memo } from 'react';
import { paintRow, type Row } from './render-lines.ts';
import { useLook } from './use-look.ts';

/** Rows that fit already, one below the other, in the colours of the theme. */
export function Rows({ rows }: { readonly rows: readonly Row[] }) {
  const { paint } = useLook();
  if (rows.length === 0) return null;
  // An empty row would be swallowed at the ends of a text.
  return <Painted text={rows.map((row) => paintRow(row, { paint, links: 'printed' }) || ' ').join('\n')} />;
}

/** Text that is the same as before is not laid out again. */
const Painted = memo(function Painted({ text }: { readonly text: string }) {
  return <Text wrap="truncate">{text}</Text>;
});
