import { Box } from 'ink';
import type { Drawing } from '../text/drawing.ts';
import { fitLine, plain, terminalLine } from '../text/line.ts';
import { Rows } from '../text/Rows.tsx';
import { useLook } from '../text/use-look.ts';
import { Chip, chipWidth } from './Chip.tsx';
import { scriptSpans } from './script-spans.ts';
import { SEGMENT_GAP, type StatusView, scriptLines, statusSegments } from './status-segments.ts';

/** Columns before the chip, and free ones behind the last segment. */
const EDGE = { left: 1, right: 2 } as const;

/** One line about where we are; below it, what a script of one's own says. */
export function StatusLine({ view }: { readonly view: StatusView }) {
  const { drawing } = useLook();
  const room = drawing.width - EDGE.left - EDGE.right - chipWidth(view.facts.mode);
  const segments = statusSegments(view, drawing, room);
  const script = scriptLines(view, drawing).map((line) => terminalLine(plain('  '), ...scriptSpans(line)));
  return (
    <>
      <Box paddingLeft={EDGE.left}>
        <Chip mode={view.facts.mode} />
        <Box marginLeft={SEGMENT_GAP.first} columnGap={SEGMENT_GAP.other}>
          {segments.map(({ name, spans }) => (
            <Rows key={name} rows={[spans]} />
          ))}
        </Box>
      </Box>
      <Rows rows={script.map((line) => fitLine(line, drawing.width).spans)} />
    </>
  );
}

/** How many rows that takes. */
export function statusHeight(view: StatusView, drawing: Drawing): number {
  return 1 + scriptLines(view, drawing).length;
}
