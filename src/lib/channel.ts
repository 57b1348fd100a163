/** A queue between concurrent writers and one reader. Unbounded: writers never wait. */
export type Channel<Item> = {
  push(item: Item): void;
  /** The next item, once there is one. */
  next(): Promise<Item>;
  /** An item if one is already there. */
  poll(): Item | undefined;
};

export function createChannel<Item>(): Channel<Item> {
  let waiting: Item[] = [];
  let head = 0;
  let wake: ((item: Item) => void) | undefined;

  function poll(): Item | undefined {
    if (head >= waiting.length) return undefined;
    const item = waiting[head];
    head += 1;
    if (head === waiting.length) {
      waiting = [];
      head = 0;
    }
    return item;
  }

  return {
    push(item) {
      if (wake === undefined) {
        waiting.push(item);
        return;
      }
      const resolve = wake;
      wake = undefined;
      resolve(item);
    },
    async next() {
      const item = poll();
      if (item !== undefined) return item;
      return new Promise<Item>((resolve) => {
        wake = resolve;
      });
    },
    poll,
  };
}
