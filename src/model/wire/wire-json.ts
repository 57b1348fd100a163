import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import { isDeeperThan, MAX_DEPTH } from '../../lib/depth.ts';

/** Reads JSON that came over a wire; `undefined` when it is none, or nested so deep that nobody takes it back. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isDeeperThan(value, MAX_DEPTH) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The value as an object; arrays and everything else are `undefined`. */
export function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !isList(value) ? value : undefined;
}

/** The value as a list; anything else is an empty one. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isList(value) ? value : [];
}

/** The objects of a list; whatever else is in it is left out. */
export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return listOf(value)
    .map(objectOf)
    .filter((item) => item !== undefined);
}

/** The value as text. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value as a number. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
