/** Returns a deep copy of plain data as JSON stores it: other values are dropped, `change` may replace values. */
export function copyAsJson<Data extends object>(
  data: Data,
  change?: (key: string, value: unknown) => unknown,
): PlainObject {
  return JSON.parse(JSON.stringify(data, change));
}

/** A plain object: the same type as `JsonObject` of contracts, which lib may not import. */
export type PlainObject = { readonly [key: string]: PlainValue | undefined };
/** A value of plain data: the same type as `JsonValue` of contracts. */
export type PlainValue = string | number | boolean | null | readonly PlainValue[] | PlainObject;

/** Returns whether two values are equal as JSON: key order is ignored, and `undefined` fields count as absent. */
export function isSameJson(left: unknown, right: unknown): boolean {
  return left === right || stringifySorted(left) === stringifySorted(right);
}

function stringifySorted(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Maximum nesting of a value from outside. Providers reject values that are much deeper, and recursion has limits. */
export const MAX_JSON_DEPTH = 100;

/** Returns whether a value is nested deeper than `levels`. Descends no further, so any value can be checked. */
export function isNestedDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const children = Array.isArray(value) ? value : Object.values(value);
  return children.some((child) => isNestedDeeperThan(child, levels - 1));
}

/** Freezes plain data with everything in it. Parts that are frozen already are assumed to be frozen deeply. */
export function deepFreeze<Value>(value: Value): Value {
  const pending: unknown[] = [value];
  for (let part = pending.pop(); pending.length > 0 || part !== undefined; part = pending.pop()) {
    if (typeof part !== 'object' || part === null || Object.isFrozen(part)) continue;
    Object.freeze(part);
    pending.push(...Object.values(part).filter((child) => child !== undefined));
  }
  return value;
}

/** An object other than an array, with values of unknown types. */
export type JsonRecord = { readonly [key: string]: unknown };

/** Returns whether a value is an object other than an array. */
export function isJsonRecord(value: unknown): value is JsonRecord {
  return isObjectOrArray(value) && !Array.isArray(value);
}

/** Returns whether a value is an object or an array. */
export function isObjectOrArray(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null;
}

/** Parses JSON; `undefined` if it is invalid. */
export function parseJson(text: string): PlainValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a JSON value with sorted object keys and without undefined ones, so that equal values have equal texts. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, sortKeys(part)]));
}

/** Returns the fields that are not undefined. */
export function omitUndefined<Fields extends object>(fields: Fields): Partial<Fields> {
  const kept: Partial<Fields> = { ...fields };
  for (const key in kept) if (kept[key] === undefined) delete kept[key];
  return kept;
}
