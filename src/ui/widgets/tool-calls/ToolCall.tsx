import { Box } from 'ink';
import { truncateLine } from '../../text/line.ts';
import { PrintableText, Rows } from '../../text/Rows.tsx';
import { useScreenContext } from '../../text/render-context.ts';
import { paintRow, wrapLines } from '../../text/render-lines.ts';
import { renderEndedCalls } from './ended-calls.ts';
import { renderLiveCall, type SubAgentColumnWidths } from './live-call.ts';
import type { ToolCallEntry } from './tool-entry.ts';

type CallProps = {
  readonly entry: ToolCallEntry;
  readonly room: number;
  readonly columns?: SubAgentColumnWidths | undefined;
};

/** A tool call that is not printed yet: its state, and the end of its output in the remaining rows. */
export function ToolCall({ entry, room, columns }: CallProps) {
  const { context } = useScreenContext();
  const lines = renderLiveCall(entry, context, columns).map((line) => truncateLine(line, context.width));
  const [head, ...output] = wrapLines(lines, context.width);
  if (head === undefined) return null;
  return (
    <>
      <Rows rows={[head]} />
      <Rows rows={output.slice(output.length - Math.min(output.length, room - 1))} />
    </>
  );
}

/** Successful lookups that wait for further ones, on one line that is truncated in the middle. */
export function FinishedLookupsLine({ entries }: { readonly entries: readonly ToolCallEntry[] }) {
  const { context, paint } = useScreenContext();
  const [line] = renderEndedCalls(entries, context);
  if (line === undefined) return null;
  return (
    <Box width={Math.max(1, context.width - 2)}>
      <PrintableText wrap="truncate-middle">{paintRow(line.spans, { paint, links: 'printed' })}</PrintableText>
    </Box>
  );
}
