/** An unbounded queue between concurrent writers and a single reader. Writers never wait. */
export type AsyncQueue<Item> = {
  push(item: Item): void;
  /** Returns the next item, items for it if the queue is empty. */
  next(): Promise<Item>;
  /** Returns the next item, or `undefined` if the queue is empty. */
  poll(): Item | undefined;
};

/** Creates an empty channel. */
export function createAsyncQueue<Item>(): AsyncQueue<Item> {
  let items: Item[] = [];
  let head = 0;
  let wakeReader: ((item: Item) => void) | undefined;

  function poll(): Item | undefined {
    if (head >= items.length) return undefined;
    const item = items[head];
    head += 1;
    if (head === items.length) {
      items = [];
      head = 0;
    }
    return item;
  }

  return {
    push(item) {
      if (wakeReader === undefined) {
        items.push(item);
        return;
      }
      const resolve = wakeReader;
      wakeReader = undefined;
      resolve(item);
    },
    async next() {
      const item = poll();
      if (item !== undefined) return item;
      return new Promise<Item>((resolve) => {
        wakeReader = resolve;
      });
    },
    poll,
  };
}
