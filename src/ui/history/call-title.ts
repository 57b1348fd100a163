import type { JsonValue } from '../../contracts/json.ts';

/** What a call is about, as far as its input alone tells: the first line of its first words. */
export function callTitle(input: JsonValue): string {
  const values = typeof input === 'object' && input !== null && !Array.isArray(input) ? Object.values(input) : [];
  const words = values.find((value) => typeof value === 'string');
  return typeof words === 'string' ? (words.split('\n', 1)[0] ?? '') : '';
}
