import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import { convertZod3Schema, isZod3Schema } from './zod3-schema.ts';

/** Returns a zod schema or a JSON schema for the input, whichever library the schema is from. */
export function resolveInputSchema(
  name: string,
  input: unknown,
  jsonSchema: JsonObject | undefined,
): z.ZodType<JsonObject> | JsonObject {
  const fail = (problem: string) => new TypeError(`buildTool(${name}): ${problem}`);
  if (typeof input !== 'object' && typeof input !== 'function')
    throw fail('input must be a zod schema or a JSON schema of an object.');
  if (input === null || Array.isArray(input)) throw fail('input must be a zod schema or a JSON schema of an object.');
  if (isZodSchema(input)) return input;
  const standard = '~standard' in input ? input['~standard'] : undefined;
  const check = createStandardCheck(standard) ?? createSafeParseCheck(input);
  if (check === undefined) return z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(input)));
  const described = jsonSchema ?? (isZod3Schema(input) ? convertZod3Schema(input) : describeStandardSchema(standard));
  if (described === undefined)
    throw fail('the library of its input schema cannot describe it for the model. Pass jsonSchema as well.');
  const { $schema: _, ...schema } = described;
  return z
    .unknown()
    .meta(schema)
    .transform((value, context) => {
      const result = check(value);
      if (result.ok) return result.value;
      for (const { message, path } of result.issues)
        context.issues.push({ code: 'custom', message, path: [...path], input: value });
      return z.NEVER;
    });
}

function isZodSchema(input: object): input is z.ZodType<JsonObject> {
  return '_zod' in input && 'safeParse' in input;
}

type Checked =
  | { readonly ok: true; readonly value: JsonObject }
  | {
      readonly ok: false;
      readonly issues: readonly { readonly message: string; readonly path: readonly PropertyKey[] }[];
    };
type Check = (value: unknown) => Checked;

const resultSchema = z.union([
  z.object({ issues: z.array(z.object({ message: z.string(), path: z.array(z.unknown()).optional() })).min(1) }),
  z.object({ value: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null) }),
]);

function createStandardCheck(standard: unknown): Check | undefined {
  if (typeof standard !== 'object' || standard === null || !('validate' in standard)) return undefined;
  const { validate } = standard;
  if (typeof validate !== 'function') return undefined;
  return (value) => toChecked(validate(value));
}

function createSafeParseCheck(input: object): Check | undefined {
  if (!('safeParse' in input) || typeof input.safeParse !== 'function') return undefined;
  const { safeParse } = input;
  return (value) => {
    const { success, data, error } = safeParse.call(input, value);
    return toChecked(success ? { value: data } : { issues: error?.issues ?? error?.errors });
  };
}

function toChecked(result: unknown): Checked {
  if (result instanceof Promise)
    throw new Error('The input schema validates asynchronously. Use a synchronous schema.');
  const parsed = resultSchema.safeParse(result);
  if (!parsed.success) return { ok: false, issues: [{ message: 'the value is not an object', path: [] }] };
  if ('value' in parsed.data) return { ok: true, value: parsed.data.value };
  return {
    ok: false,
    issues: parsed.data.issues.map(({ message, path = [] }) => ({ message, path: path.map(toKey) })),
  };
}

function toKey(part: unknown): PropertyKey {
  const key = typeof part === 'object' && part !== null && 'key' in part ? part.key : part;
  return typeof key === 'number' || typeof key === 'symbol' ? key : String(key);
}

function describeStandardSchema(standard: unknown): JsonObject | undefined {
  if (typeof standard !== 'object' || standard === null || !('jsonSchema' in standard)) return undefined;
  const { jsonSchema } = standard;
  if (typeof jsonSchema !== 'object' || jsonSchema === null || !('input' in jsonSchema)) return undefined;
  const { input } = jsonSchema;
  if (typeof input !== 'function') return undefined;
  return z.record(z.string(), z.json()).safeParse(input({ target: 'draft-2020-12' })).data;
}
