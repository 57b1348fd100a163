/** Plain data as JSON sees it: what cannot be written is left out. */
export function asJson<Data extends object>(data: Data): JsonShape {
  return JSON.parse(JSON.stringify(data));
}

type JsonShape = { readonly [key: string]: JsonPart | undefined };
type JsonPart = string | number | boolean | null | readonly JsonPart[] | JsonShape;
