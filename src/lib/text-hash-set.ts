const INITIAL_SLOTS = 1 << 10;

/**
 * Creates a set of texts that stores a 64-bit hash of each: a million texts take 16 MB. The probability that any two
 * of a million different texts collide is about one in ten million.
 */
export function createTextHashSet(): {
  /** Adds a text; returns whether it was not in the set yet. */
  readonly add: (text: string) => boolean;
} {
  let table = new Uint32Array(2 * INITIAL_SLOTS);
  let count = 0;

  /** Inserts a hash with linear probing; returns whether it was not in the table yet. */
  function insert(into: Uint32Array, high: number, low: number): boolean {
    const mask = into.length / 2 - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const offset = 2 * slot;
      if (into[offset] === 0 && into[offset + 1] === 0) {
        into[offset] = high;
        into[offset + 1] = low;
        return true;
      }
      if (into[offset] === high && into[offset + 1] === low) return false;
    }
  }

  function grow(): void {
    const old = table;
    table = new Uint32Array(2 * old.length);
    for (let offset = 0; offset < old.length; offset += 2) {
      const [high = 0, low = 0] = [old[offset], old[offset + 1]];
      if (high !== 0 || low !== 0) insert(table, high, low);
    }
  }

  return {
    add(text) {
      const [high, low] = hashText64(text);
      if (!insert(table, high, low)) return false;
      count += 1;
      if (count * 4 > table.length) grow();
      return true;
    },
  };
}

/** Returns two 32-bit halves that are mixed differently. Never both zero, because zeros mark a free slot. */
function hashText64(text: string): readonly [number, number] {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
    low ^= high >>> 15;
    high ^= low >>> 13;
  }
  return [high >>> 0, (low ^ (low >>> 16)) >>> 0 || 1];
}
