import type { JsonObject } from '../../contracts/json.ts';
import { objectOf } from '../wire/wire-json.ts';

/** Fields of a Messages API request that gateways and older places may not know, and that an answer does not depend on. */
const OPTIONAL_FIELDS = ['display', 'output_config', 'metadata'] as const;
export type OptionalField = (typeof OPTIONAL_FIELDS)[number];

/** The field that a place says it does not know: `thinking.adaptive.display: Extra inputs are not permitted`. */
export function unknownField(message: string): OptionalField | undefined {
  const named = /\b([a-z_]+(?:\.[a-z_]+)*)['"`]?:? (?:Extra inputs are not permitted|is not (?:permitted|supported))/i;
  const path = named.exec(message)?.[1]?.split('.') ?? [];
  return OPTIONAL_FIELDS.find((field) => path.includes(field));
}

/** The same request without them. */
export function withoutFields(body: JsonObject, fields: ReadonlySet<OptionalField>): JsonObject {
  if (fields.size === 0) return body;
  const { output_config, metadata, thinking, ...rest } = body;
  const { display, ...thought } = objectOf(thinking) ?? {};
  return {
    ...rest,
    ...(output_config !== undefined && !fields.has('output_config') && { output_config }),
    ...(metadata !== undefined && !fields.has('metadata') && { metadata }),
    ...(thinking !== undefined && {
      thinking: { ...thought, ...(display !== undefined && !fields.has('display') && { display }) },
    }),
  };
}
