/** Anything JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object; the shape of every tool input and every record on disk. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };
