/** The root object of a JSON file, with values of unknown type. */
export type JsonRecord = { readonly [key: string]: unknown };

/** An edit of a JSON file: the new value at a path, `undefined` to remove it. */
export type JsonEdit = { readonly path: readonly string[]; readonly value: unknown };

/** Applies an edit to an object. Missing parent objects are created. */
export function applyJsonEdit(json: JsonRecord, { path: [key, ...rest], value }: JsonEdit): JsonRecord {
  if (key === undefined) return json;
  if (rest.length > 0) {
    const inner = Object.hasOwn(json, key) ? json[key] : undefined;
    if (inner === undefined && value === undefined) return json;
    return { ...json, [key]: applyJsonEdit(isJsonRecord(inner) ? inner : {}, { path: rest, value }) };
  }
  if (value !== undefined) return { ...json, [key]: value };
  return Object.fromEntries(Object.entries(json).filter(([name]) => name !== key));
}

/** Returns whether a value is an object and not an array. */
export function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
