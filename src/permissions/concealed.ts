import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { hiddenCharacter } from './bash/check-bytes.ts';

/** Does anything in the input of a call, however deep and its keys too, not show, or show as something else? */
export function holdsHidden(input: JsonObject): boolean {
  return textsIn(input).some((text) => hiddenCharacter(text) !== undefined);
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsIn(each)]);
}
