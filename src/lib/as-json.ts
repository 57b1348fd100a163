/** Plain data as JSON sees it: what cannot be written is left out, and `change` may say other values. */
export function asJson<Data extends object>(data: Data, change?: (key: string, value: unknown) => unknown): JsonShape {
  return JSON.parse(JSON.stringify(data, change));
}

export type JsonShape = { readonly [key: string]: JsonPart | undefined };
/** Anything JSON can say, by its shape alone. */
export type JsonPart = string | number | boolean | null | readonly JsonPart[] | JsonShape;
