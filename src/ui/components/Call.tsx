import { type AgentColumns, liveToolLines } from '../history/live-tool-lines.ts';
import { fitLine } from '../text/line.ts';
import { Rows } from '../text/Rows.tsx';
import { liveRows } from '../text/render-lines.ts';
import { useLook } from '../text/use-look.ts';
import type { ToolEntry } from '../view/tool-entry.ts';

type CallProps = { readonly entry: ToolEntry; readonly room: number; readonly columns?: AgentColumns | undefined };

/** A call that is not printed yet: how it stands, and the end of its output in the rows that are left. */
export function Call({ entry, room, columns }: CallProps) {
  const { drawing } = useLook();
  const lines = liveToolLines(entry, drawing, columns).map((line) => fitLine(line, drawing.width));
  const [head, ...output] = liveRows(lines, drawing.width);
  if (head === undefined) return null;
  return (
    <>
      <Rows rows={[head]} />
      <Rows rows={output.slice(output.length - Math.min(output.length, room - 1))} />
    </>
  );
}
