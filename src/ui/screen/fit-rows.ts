import type { LogicalLine } from '../lines/line.ts';

/** What gives way first when there is not enough room; the last gives way never. */
export type BlockKind = 'tool' | 'ended_tool' | 'todos' | 'text' | 'dialog' | 'activity' | 'queue';

/** A piece of the live zone as painted rows. */
export type LiveBlock = {
  readonly kind: BlockKind;
  readonly rows: readonly string[];
  /** Rows at the start and the end that stay as long as anything of the block does. */
  readonly keepHead: number;
  readonly keepTail: number;
};

/** What a block is drawn from. */
export type LiveSource = Omit<LiveBlock, 'rows'> & { readonly lines: readonly LogicalLine[] };

const SACRIFICE: readonly BlockKind[] = ['tool', 'ended_tool', 'todos', 'queue', 'text', 'dialog', 'activity'];

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

/** A block without some rows of its middle, in favour of its end. */
function shorten(block: LiveBlock, excess: number): LiveBlock {
  const { rows, keepHead, keepTail } = block;
  const cut = Math.min(excess, rows.length - keepHead - keepTail);
  if (cut <= 0) return block;
  return { ...block, rows: [...rows.slice(0, keepHead), ...rows.slice(keepHead + cut)] };
}

function height(blocks: readonly LiveBlock[]): number {
  return blocks.reduce((sum, { rows }) => sum + rows.length, 0);
}
