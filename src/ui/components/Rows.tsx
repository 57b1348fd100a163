import { Text } from 'ink';
import { memo } from 'react';

/** Painted rows, one below the other; they fit already. */
export function Rows({ rows }: { readonly rows: readonly string[] }) {
  // An empty row would be swallowed at the ends of a text.
  return rows.length === 0 ? null : <Painted text={rows.map((row) => (row === '' ? ' ' : row)).join('\n')} />;
}

/** Text that is the same as before is not laid out again. */
const Painted = memo(function Painted({ text }: { readonly text: string }) {
  return <Text wrap="truncate">{text}</Text>;
});
