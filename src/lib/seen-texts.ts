const SMALLEST = 1 << 10;

/**
 * Remembers which texts it was shown, by 64 bits of each: a million of them take 16 MB, where the texts would take
 * hundreds. Two of a million texts are taken for one with a chance of one in ten million.
 */
export function createSeenTexts(): { readonly isNew: (text: string) => boolean } {
  let table = new Uint32Array(2 * SMALLEST);
  let count = 0;

  /** Is there a place for it that is free? Then it is taken. */
  function put(into: Uint32Array, high: number, low: number): boolean {
    const mask = into.length / 2 - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const place = 2 * at;
      if (into[place] === 0 && into[place + 1] === 0) {
        into[place] = high;
        into[place + 1] = low;
        return true;
      }
      if (into[place] === high && into[place + 1] === low) return false;
    }
  }

  function grow(): void {
    const old = table;
    table = new Uint32Array(2 * old.length);
    for (let place = 0; place < old.length; place += 2) {
      const [high = 0, low = 0] = [old[place], old[place + 1]];
      if (high !== 0 || low !== 0) put(table, high, low);
    }
  }

  return {
    isNew(text) {
      const [high, low] = hashOf(text);
      if (!put(table, high, low)) return false;
      count += 1;
      if (count * 4 > table.length) grow();
      return true;
    },
  };
}

/** Two halves that are mixed differently; never both zero, which is a free place. */
function hashOf(text: string): readonly [number, number] {
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
