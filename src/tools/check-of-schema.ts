import { z } from 'zod';
import type { JsonObject } from '../contracts/json.ts';
import { messageOf } from '../lib/errors.ts';

/** A check of values by a JSON schema. Throws, in words, for a schema that cannot be checked; `what` names it there. */
export function checkOfSchema(schema: JsonObject, what: string): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch (cause) {
    throw new Error(`${what} cannot be checked: ${messageOf(cause)}. Write it more simply.`, { cause });
  }
}
