import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';

/** Valid input, or the issues that no conversion could repair. */
export type CheckedInput =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[]; readonly input: JsonObject };

/** Rounds of repair: JSON text that is a list may hold numbers written as text. */
const MAX_ROUNDS = 4;

/**
 * Validates input. Values of another type that can mean only one thing are converted first: numbers and flags written
 * as text, lists and objects written as JSON text, a single element in place of a list.
 */
export function checkInput(input: JsonObject, schema: z.ZodType<JsonObject>): CheckedInput {
  let current = input;
  for (let round = 0; ; round += 1) {
    const parsed = schema.safeParse(current);
    if (parsed.success) return { ok: true, input: parsed.data };
    const { issues } = parsed.error;
    const repaired = issues.reduce(repairIssue, current);
    if (repaired === current || round === MAX_ROUNDS) return { ok: false, issues, input: current };
    current = repaired;
  }
}

/** Parses a text that looks like a JSON list or object. */
export function parseJsonText(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const parsed = z.json().safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the value at a path of an issue. */
export function getValueAt(input: JsonValue | undefined, path: readonly PropertyKey[]): JsonValue | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return input;
  if (Array.isArray(input)) return getValueAt(input[Number(key)], rest);
  return isJsonObject(input) ? getValueAt(input[String(key)], rest) : undefined;
}

function repairIssue(input: JsonObject, issue: z.core.$ZodIssue): JsonObject {
  const value = getValueAt(input, issue.path);
  if (value === undefined || issue.path.length === 0) return input;
  const converted = convertValue(value, issue);
  if (converted === undefined) return input;
  const changed = setValueAt(input, issue.path, converted.value);
  return isJsonObject(changed) ? changed : input;
}

function convertValue(
  value: JsonValue,
  issue: z.core.$ZodIssue,
): { readonly value: JsonValue | undefined } | undefined {
  if (value === null) return { value: undefined };
  // Models that must name every argument leave those they do not need empty.
  if (issue.code === 'invalid_value') return convertChoice(value, issue.values);
  if (issue.code !== 'invalid_type') return undefined;
  switch (issue.expected) {
    case 'number':
    case 'int':
      return typeof value === 'string' && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value)
        ? { value: Number(value) }
        : undefined;
    case 'boolean':
      return convertFlag(value);
    case 'array':
      return convertList(value);
    case 'object':
    case 'record': {
      const parsed = typeof value === 'string' ? parseJsonText(value) : undefined;
      return isJsonObject(parsed) ? { value: parsed } : undefined;
    }
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean' ? { value: String(value) } : undefined;
    default:
      return undefined;
  }
}

function convertFlag(value: JsonValue) {
  const word = String(value).trim().toLowerCase();
  if (['true', 'yes', '1'].includes(word)) return { value: true };
  return ['false', 'no', '0'].includes(word) ? { value: false } : undefined;
}

function convertList(value: JsonValue) {
  const parsed = typeof value === 'string' ? parseJsonText(value) : undefined;
  if (Array.isArray(parsed)) return { value: parsed };
  return Array.isArray(value) || value === '' ? undefined : { value: [parsed ?? value] };
}

/** Returns the choice that differs from the value only in case and punctuation. */
function convertChoice(value: JsonValue, choices: readonly z.core.util.Primitive[]) {
  if (typeof value !== 'string') return undefined;
  const fold = (text: string) => text.replace(/[^a-z0-9]/gi, '').toLowerCase();
  const matches = choices.filter((choice) => typeof choice === 'string' && fold(choice) === fold(value));
  const [match] = matches;
  return matches.length === 1 && typeof match === 'string' ? { value: match } : undefined;
}

function setValueAt(
  input: JsonValue | undefined,
  path: readonly PropertyKey[],
  value: JsonValue | undefined,
): JsonValue | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(input)) {
    const list: readonly JsonValue[] = input;
    return list.map((element, index) => (index === Number(key) ? (setValueAt(element, rest, value) ?? null) : element));
  }
  if (!isJsonObject(input)) return input;
  const { [String(key)]: current, ...others } = input;
  const changed = setValueAt(current, rest, value);
  return changed === undefined ? others : { ...others, [String(key)]: changed };
}
