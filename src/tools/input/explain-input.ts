import type { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { formatCount, truncate } from '../../lib/text/format.ts';
import { getValueAt } from './coerce-input.ts';

/** The tool whose input was refused, as the explanation describes it. */
export type RefusedTool = {
  readonly name: string;
  readonly schema: JsonObject;
  readonly example?: string | undefined;
};

type UnknownKeys = z.core.$ZodIssueUnrecognizedKeys;

const MAX_ISSUES = 5;

/** Explains why input does not fit a schema: what is missing, unknown or of the wrong type, and the right form. */
export function explainInputIssues(
  tool: RefusedTool,
  issues: readonly z.core.$ZodIssue[],
  { given, checked }: { readonly given: JsonObject; readonly checked: JsonObject },
): string {
  const flat = issues.flatMap(flattenIssue);
  const missing = flat.filter((issue) => isMissing(issue, checked));
  const unknown = flat.filter((issue): issue is UnknownKeys => issue.code === 'unrecognized_keys');
  const wrong = flat.filter((issue) => !missing.includes(issue) && issue.code !== 'unrecognized_keys');
  const keys = Object.keys(given);
  const parts = [
    ...(missing.length === 0
      ? []
      : [
          `${tool.name} needs ${joinWords(missing.map((issue) => describeArgument(tool.schema, issue.path)))}.`,
          `You gave: ${keys.length === 0 ? 'nothing' : keys.join(', ')}.`,
        ]),
    ...unknown.map((issue) => describeUnknown(tool, issue)),
    ...wrong.slice(0, MAX_ISSUES).map((issue) => describeWrong(issue, checked)),
    ...(tool.example === undefined ? [] : [`Example: ${tool.example}`]),
  ];
  return parts.join(' ');
}

/** Returns the issues of the union member that fits best: the others say only that it is another member. */
function flattenIssue(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const best = issue.errors.toSorted((a, b) => a.length - b.length)[0] ?? [];
  if (best.length === 0) return [issue];
  return best.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(flattenIssue);
}

function isMissing(issue: z.core.$ZodIssue, input: JsonObject): boolean {
  return issue.code !== 'unrecognized_keys' && issue.path.length > 0 && getValueAt(input, issue.path) === undefined;
}

/** Names an argument with its description, or else its type. */
function describeArgument(schema: JsonObject, path: readonly PropertyKey[]): string {
  const property = findProperty(schema, path);
  const type = /path$/.test(String(path.at(-1))) ? 'a path' : describeType(property?.type);
  const description = typeof property?.description === 'string' ? property.description : type;
  const hint = description === undefined ? '' : ` (${description[0]?.toLowerCase()}${description.slice(1)})`;
  return `"${formatPath(path)}"${hint}`;
}

function findProperty(schema: JsonObject, path: readonly PropertyKey[]): JsonObject | undefined {
  let current: JsonValue | undefined = schema;
  for (const key of path) {
    if (!isJsonObject(current)) return undefined;
    const properties: JsonValue | undefined = current.properties;
    current = typeof key === 'number' ? current.items : isJsonObject(properties) ? properties[String(key)] : undefined;
  }
  return isJsonObject(current) ? current : undefined;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function describeType(type: unknown): string | undefined {
  return typeof type === 'string' ? (TYPE_WORDS[type] ?? type) : undefined;
}

function describeUnknown({ name, schema }: RefusedTool, issue: UnknownKeys): string {
  const owner = findProperty(schema, issue.path);
  const valid = isJsonObject(owner?.properties) ? Object.keys(owner.properties) : [];
  const place = issue.path.length === 0 ? name : `"${formatPath(issue.path)}" of ${name}`;
  const takes = valid.length === 0 ? 'no arguments' : valid.join(', ');
  return `${place} has no ${joinWords(
    issue.keys.map((key) => `"${key}"`),
    'or',
  )}; it takes ${takes}.`;
}

function describeWrong(issue: z.core.$ZodIssue, input: JsonObject): string {
  const subject = issue.path.length === 0 ? 'The input' : `"${formatPath(issue.path)}"`;
  const value = getValueAt(input, issue.path);
  switch (issue.code) {
    case 'invalid_type':
      return `${subject} must be ${describeType(issue.expected) ?? issue.expected}, not ${quoteValue(value)}.`;
    case 'invalid_value':
      return `${subject} must be ${joinWords(issue.values.map(String), 'or')}, not ${quoteValue(value)}.`;
    case 'too_small':
      return `${subject} must be ${issue.inclusive === false ? 'more than' : 'at least'} ${formatSize(issue.minimum, issue.origin)}${describeGiven(value)}.`;
    case 'too_big':
      return `${subject} must be at most ${formatSize(issue.maximum, issue.origin)}${describeGiven(value)}.`;
    default:
      return `${subject}: ${issue.message}.`;
  }
}

function formatSize(size: number | bigint, origin: string): string {
  if (origin === 'string') return `${formatCount(Number(size), 'character')} long`;
  return origin === 'array' ? `${formatCount(Number(size), 'element')} long` : String(size);
}

function describeGiven(value: JsonValue | undefined): string {
  return typeof value === 'number' ? `, not ${value}` : '';
}

const MAX_VALUE_CHARS = 60;

function quoteValue(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return 'a list';
  if (isJsonObject(value)) return 'an object';
  return truncate(JSON.stringify(value) ?? 'nothing', MAX_VALUE_CHARS);
}

/** Formats the path of an issue: `edits[0].old_string`. */
function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`))
    .join('');
}

function joinWords(words: readonly string[], last = 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
