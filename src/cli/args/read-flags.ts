import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { messageOf } from '../../lib/errors.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import type { Clash, FlagTable, Takes, ValuesOf } from './flag.ts';
import { FLAGS, type FlagValues } from './flags.ts';
import { UsageError } from './usage-error.ts';

type Given = Readonly<Record<string, unknown>>;

/** The border between the command line and everybody behind it: values as their rows of the table want them. */
export function readFlags<Table extends FlagTable>(table: Table, given: Given): ValuesOf<Table>;
export function readFlags(table: FlagTable, given: Given): ValuesOf<FlagTable> {
  const rows = Object.entries(table);
  const defaults = rows.flatMap(([name, row]) => (row.default === undefined ? [] : [[name, row.default] as const]));
  // To make a schema takes longer than to read with it: only what was given gets one.
  const shape = rows.flatMap(([name, row]) =>
    given[name] === undefined ? [] : [[name, schemaOf(row.takes)] as const],
  );
  const read = z.object(Object.fromEntries(shape)).safeParse(given);
  if (read.success) return { ...Object.fromEntries(defaults), ...read.data };
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`Option --${name} ${issue?.message ?? 'is not understood'}.`);
}

function schemaOf(takes: Takes): z.ZodType<ValuesOf<FlagTable>[string]> {
  if (typeof takes === 'object') return 'oneOf' in takes ? z.enum(takes.oneOf) : numberFrom(takes);
  switch (takes) {
    case 'nothing':
      return z.boolean();
    case 'text':
      return z.string();
    case 'name':
      return z.string().min(1, 'must not be empty');
    case 'uuid':
      return z.uuid('must be a UUID').transform((id) => id.toLowerCase());
    case 'list':
      return z.union([z.string(), z.array(z.string())]).transform((texts) => [texts].flat().flatMap(itemsOf));
    case 'texts':
      return z.array(z.string());
    case 'optional text':
      return z.union([z.string(), z.literal(true)]);
    default:
      return exhaustive(takes);
  }
}

function numberFrom({ numberFrom: least, isWhole }: Extract<Takes, { numberFrom: number }>): z.ZodType<number> {
  return z.string().transform((text, context) => {
    const number = Number(text);
    if (text.trim() !== '' && number >= least && (!isWhole || Number.isSafeInteger(number))) return number;
    const what = isWhole ? 'a whole number' : 'a number';
    context.addIssue({ code: 'custom', message: `must be ${what} from ${least} up, not "${text}"` });
    return z.NEVER;
  });
}

/** Items apart by comma or space; what stands between parentheses belongs to its rule. */
function itemsOf(text: string): readonly string[] {
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
  return [...items, item].filter((one) => one !== '');
}

/** The first flags that cannot both be meant, as a sentence. */
export function contradiction(values: FlagValues, isScreen: boolean): string | undefined {
  const given: Given = { ...values, ...(isScreen && { screen: true }) };
  const holds = (condition: string) => {
    const [name = '', wanted] = condition.split('=');
    const value = given[name];
    return value !== undefined && value !== false && (wanted === undefined || String(value) === wanted);
  };
  const isAgainst = (name: string, { at, needs, excludes = [], unless }: Clash) =>
    holds(at === undefined ? name : `${name}=${at}`) &&
    !(unless !== undefined && holds(unless)) &&
    (excludes.some(holds) || (needs !== undefined && !needs.some(holds)));
  for (const [name, { clashes }] of Object.entries(FLAGS)) {
    const found = clashes.find((clash) => isAgainst(name, clash));
    if (found !== undefined) return found.words;
  }
  return undefined;
}

/** The JSON object that was written into a flag. */
export function jsonObjectOf(flag: string, text: string): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new UsageError(`Option ${flag} is not valid JSON: ${messageOf(thrown)}.`);
  }
  if (isJsonObject(value)) return value;
  throw new UsageError(`Option ${flag} must be a JSON object.`);
}

/** Why answers cannot be held against this schema; `undefined` when they can. */
export function schemaProblem(schema: JsonObject): string | undefined {
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (thrown) {
    return `Answers cannot be held against this schema: ${messageOf(thrown)}`;
  }
}
