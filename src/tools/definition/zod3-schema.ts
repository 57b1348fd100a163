import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import { isObjectOrArray } from '../../lib/json.ts';

/** Converts a schema of zod 3 to a JSON schema. Returns `undefined` if a part of it has no JSON schema. */
export function convertZod3Schema(schema: unknown): JsonObject | undefined {
  const def = getDefinition(schema);
  const converted = def && convertDefinition(def);
  const description = def?.description;
  if (converted === undefined || typeof description !== 'string') return converted;
  return { ...converted, description };
}

/** Returns whether a value is a schema of zod 3. */
export function isZod3Schema(schema: unknown): boolean {
  return typeof getDefinition(schema)?.typeName === 'string';
}

type Definition = Readonly<Record<string, unknown>>;

function getDefinition(schema: unknown): Definition | undefined {
  if (typeof schema !== 'object' || schema === null || !('_def' in schema)) return undefined;
  return isObjectOrArray(schema._def) ? schema._def : undefined;
}

function convertDefinition(def: Definition): JsonObject | undefined {
  switch (def.typeName) {
    case 'ZodObject':
      return convertObject(def);
    case 'ZodString':
      return { type: 'string', ...convertChecks(def, { min: 'minLength', max: 'maxLength' }) };
    case 'ZodNumber': {
      const isInteger = listChecks(def).some(({ kind }) => kind === 'int');
      return { type: isInteger ? 'integer' : 'number', ...convertChecks(def, { min: 'minimum', max: 'maximum' }) };
    }
    case 'ZodBoolean':
      return { type: 'boolean' };
    case 'ZodNull':
      return { type: 'null' };
    case 'ZodAny':
    case 'ZodUnknown':
      return {};
    case 'ZodLiteral':
      return isJson(def.value) ? { const: def.value } : undefined;
    case 'ZodEnum':
    case 'ZodNativeEnum':
      return { enum: isObjectOrArray(def.values) ? Object.values(def.values).filter(isJson) : [] };
    case 'ZodArray':
      return withSchema(convertZod3Schema(def.type), (items) => ({ type: 'array', items }));
    case 'ZodRecord':
      return withSchema(convertZod3Schema(def.valueType), (value) => ({ type: 'object', additionalProperties: value }));
    case 'ZodUnion':
    case 'ZodDiscriminatedUnion':
      return convertUnion(def.options);
    case 'ZodNullable':
      return withSchema(convertZod3Schema(def.innerType), (inner) => ({ anyOf: [inner, { type: 'null' }] }));
    case 'ZodDefault': {
      const value = typeof def.defaultValue === 'function' ? def.defaultValue() : undefined;
      return withSchema(convertZod3Schema(def.innerType), (inner) =>
        isJson(value) ? { ...inner, default: value } : inner,
      );
    }
    case 'ZodOptional':
    case 'ZodReadonly':
    case 'ZodCatch':
      return convertZod3Schema(def.innerType);
    case 'ZodBranded':
      return convertZod3Schema(def.type);
    case 'ZodEffects':
      return convertZod3Schema(def.schema);
    case 'ZodPipeline':
      return convertZod3Schema(def.in);
    default:
      return undefined;
  }
}

function convertObject({ shape, unknownKeys }: Definition): JsonObject | undefined {
  const fields = typeof shape === 'function' ? shape() : shape;
  if (!isObjectOrArray(fields)) return undefined;
  const properties: Record<string, JsonValue> = {};
  for (const [name, field] of Object.entries(fields)) {
    const converted = convertZod3Schema(field);
    if (converted === undefined) return undefined;
    properties[name] = converted;
  }
  const required = Object.keys(properties).filter((name) => !isOptional(fields[name]));
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(unknownKeys === 'strict' ? { additionalProperties: false } : {}),
  };
}

function isOptional(field: unknown): boolean {
  return isObjectOrArray(field) && typeof field.isOptional === 'function' && field.isOptional() === true;
}

function convertUnion(options: unknown): JsonObject | undefined {
  const list = options instanceof Map ? [...options.values()] : Array.isArray(options) ? options : [];
  const anyOf = list.map(convertZod3Schema);
  const isComplete = (schemas: readonly (JsonObject | undefined)[]): schemas is readonly JsonObject[] =>
    schemas.every((schema) => schema !== undefined);
  return isComplete(anyOf) ? { anyOf } : undefined;
}

function withSchema(
  schema: JsonObject | undefined,
  convert: (schema: JsonObject) => JsonObject,
): JsonObject | undefined {
  return schema && convert(schema);
}

function convertChecks(def: Definition, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    listChecks(def).flatMap(({ kind, value }) => {
      const name = typeof kind === 'string' ? names[kind] : undefined;
      return name !== undefined && typeof value === 'number' ? [[name, value]] : [];
    }),
  );
}

function listChecks({ checks }: Definition): readonly Definition[] {
  return Array.isArray(checks) ? checks.filter(isObjectOrArray) : [];
}

function isJson(value: unknown): value is JsonValue {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return true;
  if (Array.isArray(value)) return value.every(isJson);
  return typeof value === 'object' && Object.values(value).every(isJson);
}
