const SEEDS = [0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f];

/** Returns a short, stable, not cryptographic hexadecimal hash of a text. */
export function computeShortHash(text: string, length: number): string {
  return SEEDS.map((seed) => mix(text, seed).toString(16).padStart(8, '0'))
    .join('')
    .slice(0, length);
}

function mix(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}
