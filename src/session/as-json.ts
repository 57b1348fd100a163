import type { JsonObject } from '../contracts/json.ts';

/** Plain data as JSON sees it: what cannot be written is left out. */
export function asJson(data: object): JsonObject {
  return JSON.parse(JSON.stringify(data));
}
