/** A seeded random number generator. */
export type Dice = {
  /** Returns an integer from 0 up to, but not including, the limit. */
  below(limit: number): number;
  /** Returns true with this chance in percent. */
  percent(chance: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
};

/** Creates a generator from a seed. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  // Mulberry32: short and good enough.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    percent: (chance) => below(100) < chance,
    pick: (items) => items[below(items.length)] ?? items[0],
  };
}
