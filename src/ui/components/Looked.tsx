import { Box } from 'ink';
import { endedToolLines } from '../history/tool-lines.ts';
import { Painted } from '../text/Painted.tsx';
import { paintRow } from '../text/render-lines.ts';
import { useLook } from '../text/use-look.ts';
import type { ToolEntry } from '../view/tool-entry.ts';

/** Look-ups that went well and wait for more of them: what was looked at last stays in sight. */
export function Looked({ entries }: { readonly entries: readonly ToolEntry[] }) {
  const { drawing, paint } = useLook();
  const [line] = endedToolLines(entries, drawing);
  if (line === undefined) return null;
  return (
    <Box width={Math.max(1, drawing.width - 2)}>
      <Painted wrap="truncate-middle">{paintRow(line.spans, { paint, links: 'printed' })}</Painted>
    </Box>
  );
}
