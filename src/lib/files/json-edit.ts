import { isJsonRecord, type JsonRecord } from '../json.ts';

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
