import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { exhaustive, getErrorMessage } from '../../lib/errors.ts';
import type { FlagConflict, FlagTable, FlagValueKind, FlagValuesOf } from './define-flag.ts';
import { FLAGS, type FlagValues } from './flags.ts';
import { UsageError } from './usage-error.ts';

type RawValues = Readonly<Record<string, unknown>>;

/** Parses raw flag values into the types of the table; throws a `UsageError` for an invalid one. */
export function parseFlagValues<Table extends FlagTable>(table: Table, rawValues: RawValues): FlagValuesOf<Table>;
export function parseFlagValues(table: FlagTable, rawValues: RawValues): FlagValuesOf<FlagTable> {
  const rows = Object.entries(table);
  const defaults = rows.flatMap(([name, row]) => (row.default === undefined ? [] : [[name, row.default] as const]));
  // Creating a schema takes longer than parsing with it, so absent flags get none.
  const shape = rows.flatMap(([name, row]) =>
    rawValues[name] === undefined ? [] : [[name, createSchema(row.valueKind)] as const],
  );
  const parsed = z.object(Object.fromEntries(shape)).safeParse(rawValues);
  if (parsed.success) return { ...Object.fromEntries(defaults), ...parsed.data };
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0] ?? '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`Option --${name} ${issue?.message ?? 'is invalid'}.`);
}

function createSchema(valueKind: FlagValueKind): z.ZodType<FlagValuesOf<FlagTable>[string]> {
  if (typeof valueKind === 'object')
    return 'oneOf' in valueKind ? z.enum(valueKind.oneOf) : createNumberSchema(valueKind);
  switch (valueKind) {
    case 'boolean':
      return z.boolean();
    case 'text':
      return z.string();
    case 'name':
      return z.string().min(1, 'must not be empty');
    case 'uuid':
      return z.uuid('must be a UUID').transform((id) => id.toLowerCase());
    case 'list':
      return z.union([z.string(), z.array(z.string())]).transform((texts) => [texts].flat().flatMap(splitItems));
    case 'texts':
      return z.array(z.string());
    case 'optional text':
      return z.union([z.string(), z.literal(true)]);
    default:
      return exhaustive(valueKind);
  }
}

function createNumberSchema({
  numberFrom: minimum,
  isWhole,
}: Extract<FlagValueKind, { numberFrom: number }>): z.ZodType<number> {
  return z.string().transform((text, context) => {
    const number = Number(text);
    if (text.trim() !== '' && number >= minimum && (!isWhole || Number.isSafeInteger(number))) return number;
    const expected = isWhole ? 'a whole number' : 'a number';
    context.addIssue({ code: 'custom', message: `must be ${expected} of at least ${minimum}, not "${text}"` });
    return z.NEVER;
  });
}

/** Splits at commas and spaces, but not inside the parentheses of a rule. */
function splitItems(text: string): readonly string[] {
  const items: string[] = [];
  let item = '';
  let depth = 0;
  for (const char of text) {
    if (depth === 0 && /[\s,]/.test(char)) {
      items.push(item);
      item = '';
      continue;
    }
    if (char === '(') depth += 1;
    if (char === ')') depth = Math.max(0, depth - 1);
    item += char;
  }
  return [...items, item].filter((entry) => entry !== '');
}

/** Returns the message of the first violated flag rule. `conditions` are extra conditions that hold, like `screen`. */
export function findFlagConflict(values: FlagValues, conditions: readonly string[]): string | undefined {
  const given: RawValues = { ...values, ...Object.fromEntries(conditions.map((condition) => [condition, true])) };
  const isMet = (condition: string) => {
    const [name = '', expected] = condition.split('=');
    const value = given[name];
    return value !== undefined && value !== false && (expected === undefined || String(value) === expected);
  };
  const isViolated = (name: string, { whenValue, requires, excludes = [], unless }: FlagConflict) =>
    isMet(whenValue === undefined ? name : `${name}=${whenValue}`) &&
    !(unless !== undefined && isMet(unless)) &&
    (excludes.some(isMet) || (requires !== undefined && !requires.some(isMet)));
  for (const [name, { conflicts }] of Object.entries(FLAGS)) {
    const violated = conflicts.find((conflict) => isViolated(name, conflict));
    if (violated !== undefined) return violated.message;
  }
  return undefined;
}

/** Parses the JSON object given as the value of a flag; throws a `UsageError` when it is none. */
export function parseJsonFlag(flag: string, text: string): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new UsageError(`Option ${flag} is not valid JSON: ${getErrorMessage(thrown)}.`);
  }
  if (isJsonObject(value)) return value;
  throw new UsageError(`Option ${flag} must be a JSON object.`);
}

/** Returns the reason why answers cannot be validated with this schema, `undefined` when they can. */
export function findSchemaProblem(schema: JsonObject): string | undefined {
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (thrown) {
    return `Answers cannot be validated with this schema: ${getErrorMessage(thrown)}`;
  }
}
