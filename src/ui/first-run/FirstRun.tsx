import { Box } from 'ink';
import { Rows } from '../text/Rows.tsx';
import type { FirstRunPlan, TrustPlan } from './plan-first-run.ts';

/** The first screen: where one is, whether its folder is trusted, what else has to be settled, and the way out. */
export function FirstRun({ plan: { head, trust, parts, foot } }: { readonly plan: FirstRunPlan }) {
  return (
    <Box flexDirection="column">
      <Rows rows={head} />
      {trust !== undefined && <Trust plan={trust} />}
      {parts.map(({ topic, rows }) => (
        <Rows key={topic} rows={rows} />
      ))}
      <Rows rows={foot} />
    </Box>
  );
}

/** What the folder brings, between why that is asked and what can be said to it. */
function Trust({ plan: { why, brings, place, choices } }: { readonly plan: TrustPlan }) {
  return (
    <Box flexDirection="column">
      <Rows rows={why} />
      <Rows rows={brings} />
      <Rows rows={place} />
      <Rows rows={choices} />
    </Box>
  );
}
