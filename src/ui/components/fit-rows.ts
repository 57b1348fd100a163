import type { LogicalLine } from '../text/line.ts';

/** What gives way first when there is not enough room. */
const SACRIFICE = ['thinking', 'tool', 'ended_tool', 'todos', 'queue', 'text'] as const;

export type BlockKind = (typeof SACRIFICE)[number];

/** A piece of the live zone as painted rows; the key is the call or the message it belongs to. */
export type LiveBlock = {
  readonly key: string;
  readonly kind: BlockKind;
  readonly rows: readonly string[];
  /** Rows at the start and the end that stay as long as anything of the block does. */
  readonly keepHead: number;
  readonly keepTail: number;
};

/** What a block is drawn from. */
export type LiveSource = Omit<LiveBlock, 'rows'> & { readonly lines: readonly LogicalLine[] };

/** Makes blocks fit, in favour of their ends. Never returns more rows than there is room for. */
export function fitRows(blocks: readonly LiveBlock[], room: number): readonly LiveBlock[] {
  let shown = blocks.filter((block) => block.rows.length > 0);
  let excess = height(shown) - room;
  for (const kind of SACRIFICE) {
    if (excess <= 0) break;
    shown = shown.map((block) => {
      const cut = Math.min(excess, block.rows.length - block.keepHead - block.keepTail);
      if (block.kind !== kind || cut <= 0) return block;
      excess -= cut;
      return { ...block, rows: block.rows.toSpliced(block.keepHead, cut) };
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
  return shown;
}

function height(blocks: readonly LiveBlock[]): number {
  return blocks.reduce((sum, { rows }) => sum + rows.length, 0);
}
