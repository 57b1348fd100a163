/** The object a JSON file holds, whatever else is in it. */
export type Json = { readonly [key: string]: unknown };

/** One change of a JSON file: the value at a path, or `undefined` to take it away. Everything else stays as it is. */
export type JsonEdit = { readonly path: readonly string[]; readonly value: unknown };

/** The object with one edit; objects on the way to it are made. */
export function withEdit(json: Json, { path: [key, ...rest], value }: JsonEdit): Json {
  if (key === undefined) return json;
  if (rest.length > 0) {
    const inner = Object.hasOwn(json, key) ? json[key] : undefined;
    if (inner === undefined && value === undefined) return json;
    return { ...json, [key]: withEdit(isJsonObject(inner) ? inner : {}, { path: rest, value }) };
  }
  if (value !== undefined) return { ...json, [key]: value };
  return Object.fromEntries(Object.entries(json).filter(([name]) => name !== key));
}

export function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
