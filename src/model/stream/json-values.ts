import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../../lib/json.ts';

/** Parses JSON from the network; `undefined` if it is invalid or nested too deeply. */
export function parseNetworkJson(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return hasManyBrackets(text) && isNestedDeeperThan(value, MAX_JSON_DEPTH) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Returns whether a text has enough opening brackets to be nested too deeply; any other need not be walked. */
function hasManyBrackets(text: string): boolean {
  return text.length > 2 * MAX_JSON_DEPTH && text.split(/[[{]/, MAX_JSON_DEPTH + 2).length > MAX_JSON_DEPTH + 1;
}

/**
 * Parses the data of an event to its objects, usually one. Returns `undefined` for broken JSON, which may have been a
 * part of the reply; other data, such as a keep-alive, holds no objects.
 */
export function parseEventObjects(data: string): readonly JsonObject[] | undefined {
  const value = parseNetworkJson(data);
  if (value === undefined) return /^\s*(?:\{|\[\s*\{)/.test(data) ? undefined : [];
  const object = narrowToObject(value);
  return object === undefined ? narrowToObjects(value) : [object];
}

/** Returns whether a field has content of another type than it should; `null` is not content. */
export function hasOtherType(value: JsonValue | undefined, type: 'object' | 'array' | 'string'): boolean {
  if (value === undefined || value === null) return false;
  return (isArray(value) ? 'array' : typeof value) !== type;
}

/** Returns the value if it is an object and no array. */
export function narrowToObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !isArray(value) ? value : undefined;
}

/** Returns the value if it is an array, or else an empty array. */
function toArray(value: JsonValue | undefined): readonly JsonValue[] {
  return isArray(value) ? value : [];
}

/** Returns the objects of an array, skipping other items. */
export function narrowToObjects(value: JsonValue | undefined): JsonObject[] {
  return toArray(value)
    .map(narrowToObject)
    .filter((item) => item !== undefined);
}

/** Returns the value if it is a string. */
export function narrowToString(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value if it is a finite number. */
export function narrowToNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
