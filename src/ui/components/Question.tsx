import { Box } from 'ink';
import type { QuestionPlan } from './plan-question.ts';
import { Rows } from './Rows.tsx';

type QuestionProps = { readonly plan: QuestionPlan; readonly bar: string };

/** What asks, behind a bar of its own: what it is about, the answers one to a row, and the other keys. */
export function Question({ plan, bar }: QuestionProps) {
  const { title, body, options, keys, gaps } = plan;
  const gap = gaps === 'shown' ? [''] : [];
  const isFolded = body.length === 0 && options.length === 0;
  const parts = [body, options, keys].filter((part) => part.length > 0);
  return (
    <Box
      borderStyle={leftBar(bar)}
      borderTop={false}
      borderBottom={false}
      borderRight={false}
      paddingLeft={1}
      flexDirection="column"
    >
      <Rows rows={[title]} />
      <Box paddingLeft={isFolded ? 0 : 2} flexDirection="column">
        {parts.map((rows, at) => (
          <Rows key={['body', 'options', 'keys'][at]} rows={[...gap, ...rows]} />
        ))}
      </Box>
    </Box>
  );
}

/** How many rows it takes. */
export function questionHeight({ body, options, keys, gaps }: QuestionPlan): number {
  const parts = [body, options, keys].filter((part) => part.length > 0);
  const empty = gaps === 'shown' ? parts.length : 0;
  return 1 + empty + body.length + options.length + keys.length;
}

function leftBar(left: string) {
  return { left, right: '', top: '', bottom: '', topLeft: '', topRight: '', bottomLeft: '', bottomRight: '' };
}
