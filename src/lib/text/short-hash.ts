/** Returns a short, stable, not cryptographic hexadecimal hash of a text. */
export function computeShortHash(text: string, length: number): string {
  let [first, second, third, fourth] = SEEDS;
  // All in one pass: most of the time goes into reading the characters of a long text.
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, PRIME);
    second = Math.imul(second ^ code, PRIME);
    third = Math.imul(third ^ code, PRIME);
    fourth = Math.imul(fourth ^ code, PRIME);
  }
  return [first, second, third, fourth]
    .map((hash) => mixBits(hash).toString(16).padStart(8, '0'))
    .join('')
    .slice(0, length);
}

const SEEDS: readonly [number, number, number, number] = [0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f];
const PRIME = 0x01000193;

function mixBits(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  const whole = Math.imul(half ^ (half >>> 15), 0x846ca68b);
  return (whole ^ (whole >>> 16)) >>> 0;
}
