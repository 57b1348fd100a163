import { Box } from 'ink';
import { Rows } from '../text/Rows.tsx';
import type { Row } from '../text/render-lines.ts';
import { useLook } from '../text/use-look.ts';
import type { QuestionPlan } from './fit-question.ts';

/** What asks, behind a bar of its own: what it is about, the answers one to a row, and the other keys. */
export function Question({ plan }: { readonly plan: QuestionPlan }) {
  const { drawing, paint } = useLook();
  const { title, body, options, keys, gaps } = plan;
  const isFolded = body.length === 0 && options.length === 0;
  return (
    <Box
      borderStyle={leftBar(paint(drawing.glyphs.bar, { token: isFolded ? 'dim' : 'warn' }))}
      borderTop={false}
      borderBottom={false}
      borderRight={false}
      paddingLeft={1}
      flexDirection="column"
    >
      <Rows rows={[title]} />
      <Part rows={body} gaps={gaps} indent={2} />
      {/* The cursor stands before the words, so that digits begin where the words above do. */}
      <Part rows={options} gaps={gaps} indent={0} />
      <Part rows={keys} gaps={gaps} indent={isFolded ? 0 : 2} />
    </Box>
  );
}

type PartProps = Pick<QuestionPlan, 'gaps'> & { readonly rows: readonly Row[]; readonly indent: number };

function Part({ rows, gaps, indent }: PartProps) {
  if (rows.length === 0) return null;
  return (
    <Box marginTop={gaps === 'shown' ? 1 : 0} paddingLeft={indent}>
      <Rows rows={rows} />
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
