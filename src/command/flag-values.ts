import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import { exhaustive, getErrorPhrase } from '../lib/errors.ts';
import type { FlagConflict, FlagTable, FlagValueKind, FlagValuesOf } from './define-flag.ts';
import { CLI_FLAGS, type FlagValues } from './flags.ts';
import { UsageError } from './usage-error.ts';

type RawValues = Readonly<Record<string, unknown>>;

/** Parses raw flag values into the types of the table; throws a `UsageError` for an invalid one. */
export function parseFlagValues<Table extends FlagTable>(table: Table, rawValues: RawValues): FlagValuesOf<Table>;
export function parseFlagValues(table: FlagTable, rawValues: RawValues): FlagValuesOf<FlagTable> {
  const values: Record<string, FlagValuesOf<FlagTable>[string]> = {};
  for (const [name, { valueKind, default: defaultValue }] of Object.entries(table)) {
    const raw = rawValues[name];
    if (raw === undefined && defaultValue === undefined) continue;
    values[name] = raw === undefined ? defaultValue : parseFlagValue(toDashed(name), valueKind, raw);
  }
  return values;
}

function toDashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;

/** Parses one value. A schema library would be loaded before the prompt, and the parser has checked the choices. */
function parseFlagValue(name: string, valueKind: FlagValueKind, raw: unknown): FlagValuesOf<FlagTable>[string] {
  if (typeof valueKind === 'object')
    return 'oneOf' in valueKind ? String(raw) : parseNumber(name, valueKind, String(raw));
  const texts = [raw].flat().map(String);
  switch (valueKind) {
    case 'boolean':
    case 'optional text':
      return typeof raw === 'boolean' ? raw : String(raw);
    case 'text':
      return String(raw);
    case 'name':
      if (raw === '') throw new UsageError(`Option --${name} must not be empty.`);
      return String(raw);
    case 'uuid':
      if (!UUID.test(String(raw))) throw new UsageError(`Option --${name} must be a UUID.`);
      return String(raw).toLowerCase();
    case 'list':
      return texts.flatMap(splitItems);
    case 'texts':
      return texts;
    default:
      return exhaustive(valueKind);
  }
}

function parseNumber(
  name: string,
  { numberFrom: minimum, isWhole }: Extract<FlagValueKind, { numberFrom: number }>,
  text: string,
): number {
  const number = Number(text);
  if (text.trim() !== '' && number >= minimum && (!isWhole || Number.isSafeInteger(number))) return number;
  const expected = isWhole ? 'a whole number' : 'a number';
  throw new UsageError(`Option --${name} must be ${expected} of at least ${minimum}, not "${text}".`);
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
  for (const [name, { conflicts }] of Object.entries(CLI_FLAGS)) {
    const violated = conflicts.find((conflict) => isViolated(name, conflict));
    if (violated !== undefined) return violated.message;
  }
  return undefined;
}

/** Parses the JSON object given as the value of a flag; throws a `UsageError` when it is none. */
export function parseJsonFlagValue(flag: string, text: string): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new UsageError(`Option ${flag} is not valid JSON: ${getErrorPhrase(thrown)}.`);
  }
  if (isJsonObject(value)) return value;
  throw new UsageError(`Option ${flag} must be a JSON object.`);
}
