/** Anything JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object; the shape of every tool input and every record on disk. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
