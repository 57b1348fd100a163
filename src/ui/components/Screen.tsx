import { Box, Text } from 'ink';
import type { ScreenPlan } from './draw-screen.ts';

/** The part of the terminal that is redrawn: what still changes, the draft, and what hangs below it. */
export function Screen({ plan }: { readonly plan: ScreenPlan }) {
  return (
    <Box flexDirection="column">
      <Rows rows={plan.live} />
      <Rows rows={plan.composer} />
      <Rows rows={plan.below} />
    </Box>
  );
}

/** Painted rows, one below the other; they fit already. */
function Rows({ rows }: { readonly rows: readonly string[] }) {
  if (rows.length === 0) return null;
  // An empty row would be swallowed at the ends of a text.
  return <Text wrap="truncate">{rows.map((row) => (row === '' ? ' ' : row)).join('\n')}</Text>;
}
