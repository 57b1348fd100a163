/** What gives way first when there is not enough room. */
const SACRIFICE = ['thinking', 'tool', 'ended_tool', 'todos', 'text'] as const;

/** What has to be known of a block of the live zone to give it its rows. */
export type Fitting = {
  readonly kind: (typeof SACRIFICE)[number];
  /** How many rows it would take. */
  readonly height: number;
  /** Rows at the start and the end that stay as long as anything of the block does. */
  readonly keepHead: number;
  readonly keepTail: number;
};

/** Makes blocks fit by changing their heights, in favour of their ends. Together they never take more than there is room for. */
export function fitRows<Block extends Fitting>(blocks: readonly Block[], room: number): readonly Block[] {
  let shown = blocks.filter((block) => block.height > 0);
  let excess = heightOf(shown) - room;
  for (const kind of SACRIFICE) {
    if (excess <= 0) break;
    shown = shown.map((block) => {
      const cut = Math.min(excess, block.height - block.keepHead - block.keepTail);
      if (block.kind !== kind || cut <= 0) return block;
      excess -= cut;
      return { ...block, height: block.height - cut };
    });
  }
  for (const kind of SACRIFICE) {
    while (excess > 0) {
      const index = shown.findIndex((block) => block.kind === kind);
      if (index === -1) break;
      excess -= shown[index]?.height ?? 0;
      shown = shown.toSpliced(index, 1);
    }
  }
  return shown;
}

/** The rows that blocks take together. */
export function heightOf(blocks: readonly Fitting[]): number {
  return blocks.reduce((sum, { height }) => sum + height, 0);
}
