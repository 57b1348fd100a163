import { Box } from 'ink';
import type { ScreenPlan } from './plan-screen.ts';
import { Question } from './Question.tsx';
import { Rows } from './Rows.tsx';

const GAP = [''] as const;

/** The part of the terminal that is redrawn: what still changes, what asks, the draft, and what hangs below it. */
export function Screen({ plan }: { readonly plan: ScreenPlan }) {
  const { live, question, bar, queue, composer, below, status, gaps } = plan;
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
      {status !== '' && <Rows rows={[status]} />}
    </Box>
  );
}
