import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import { getErrorMessage } from '../../lib/errors.ts';

/** Returns the reason why answers cannot be validated with this schema, `undefined` when they can. */
export function findSchemaProblem(schema: JsonObject): string | undefined {
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (thrown) {
    return `Answers cannot be validated with this schema: ${getErrorMessage(thrown)}`;
  }
}
