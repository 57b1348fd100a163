import { Box } from 'ink';
import { Panel } from '../panels/Panel.tsx';
import type { ScreenPlan } from './plan-screen.ts';
import { Question } from './Question.tsx';
import { Rows } from './Rows.tsx';

const GAP = [''] as const;

/** The part of the terminal that is redrawn: what still changes, what asks, the draft, and what hangs below it. */
export function Screen({ plan }: { readonly plan: ScreenPlan }) {
  const { live, question, bar, queue, composer, below, panel, status, gaps } = plan;
  return (
    <Box flexDirection="column">
      {live.map(({ key, rows }) => (
        <Rows key={key} rows={rows} />
      ))}
      {gaps.question > 0 && <Rows rows={GAP} />}
      {question !== undefined && <Question plan={question} bar={bar} />}
      {gaps.composer > 0 && <Rows rows={GAP} />}
      <Rows rows={queue} />
      <Rows rows={composer} />
      <Rows rows={below} />
      {panel !== undefined && (
        <Box maxHeight={panel.rows} overflowY="hidden">
          <Panel {...panel} />
        </Box>
      )}
      <Rows rows={status} />
    </Box>
  );
}
