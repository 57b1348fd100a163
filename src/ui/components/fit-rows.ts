import type { LogicalLine } from '../text/line.ts';

/** What gives way first when there is not enough room; the last gives way never. */
export type BlockKind =
  | 'keys'
  | 'tool'
  | 'ended_tool'
  | 'todos'
  | 'queue'
  | 'text'
  | 'dialog_body'
  | 'activity'
  | 'dialog_note'
  | 'dialog_title'
  | 'dialog';

/** A piece of the live zone as painted rows. */
export type LiveBlock = {
  readonly kind: BlockKind;
  readonly rows: readonly string[];
  /** Rows at the start and the end that stay as long as anything of the block does. */
  readonly keepHead: number;
  readonly keepTail: number;
  /** What stands in the place of rows that are cut from the end; without it the beginning is cut, and nothing said. */
  readonly cutNote?: ((hidden: number) => string) | undefined;
};

/** What a block is drawn from. */
export type LiveSource = Omit<LiveBlock, 'rows' | 'cutNote'> & {
  readonly lines: readonly LogicalLine[];
  /** How to see what is cut from the end. */
  readonly cutHint?: string;
};

const SACRIFICE: readonly BlockKind[] = [
  'keys',
  'tool',
  'ended_tool',
  'todos',
  'queue',
  'text',
  'activity',
  'dialog_body',
  'dialog_note',
  'dialog_title',
  'dialog',
];

/** Makes the live zone fit: the one place that decides what is cut. Never returns more rows than there is room for. */
export function fitRows(blocks: readonly LiveBlock[], room: number): readonly string[] {
  let shown = blocks.filter((block) => block.rows.length > 0);
  let excess = height(shown) - room;
  for (const kind of SACRIFICE) {
    if (excess <= 0) break;
    shown = shown.map((block) => {
      if (block.kind !== kind || excess <= 0) return block;
      const cut = shorten(block, excess);
      excess -= block.rows.length - cut.rows.length;
      return cut;
    });
  }
  for (const kind of SACRIFICE) {
    while (excess > 0) {
      const index = shown.findIndex((block) => block.kind === kind);
      if (index === -1) break;
      excess -= shown[index]?.rows.length ?? 0;
      shown = shown.toSpliced(index, 1);
    }
  }
  return shown.flatMap(({ rows }) => rows).slice(0, Math.max(0, room));
}

/** A block without some rows of its middle, in favour of its end; or without its end, where that is said. */
function shorten(block: LiveBlock, excess: number): LiveBlock {
  const { rows, keepHead, keepTail, cutNote } = block;
  if (cutNote !== undefined) {
    const kept = Math.max(keepHead, rows.length - excess);
    if (kept >= rows.length) return block;
    // The note needs a row of its own, unless that would leave nothing to be read.
    const shown = Math.max(1, kept - 1);
    const note = kept < 2 ? [] : [cutNote(rows.length - shown)];
    return { ...block, rows: [...rows.slice(0, shown), ...note] };
  }
  const cut = Math.min(excess, rows.length - keepHead - keepTail);
  if (cut <= 0) return block;
  return { ...block, rows: [...rows.slice(0, keepHead), ...rows.slice(keepHead + cut)] };
}

function height(blocks: readonly LiveBlock[]): number {
  return blocks.reduce((sum, { rows }) => sum + rows.length, 0);
}
