import type { JsonPart } from '../as-json.ts';
import { exhaustive } from '../exhaustive.ts';
import type { Choice, FieldKind, FormField } from './form-fields.ts';

/** What somebody wrote for a field, or why it cannot be taken. */
export type ReadField =
  | { readonly ok: true; readonly value: JsonPart }
  | { readonly ok: false; readonly problem: string };

const YES = /^(?:y|yes|true|1)$/i;
const NO = /^(?:n|no|false|0)$/i;

/** Reads words as a person types them: numbers, yes and no, choices by name or value, several behind commas. */
export function readField(field: FormField, typed: string): ReadField {
  const value = readTyped(field.wants, typed.trim());
  const problem = valueProblem(field, value);
  return problem === undefined ? { ok: true, value } : { ok: false, problem };
}

function readTyped(wants: FieldKind, typed: string): JsonPart {
  switch (wants.kind) {
    case 'text':
      return typed;
    case 'number':
      return typed === '' || Number.isNaN(Number(typed)) ? typed : Number(typed);
    case 'yes or no':
      return YES.test(typed) ? true : NO.test(typed) ? false : typed;
    case 'one of':
      return chosen(wants.choices, typed);
    case 'some of':
      return typed
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')
        .map((one) => chosen(wants.choices, one));
    default:
      return exhaustive(wants);
  }
}

function chosen(choices: readonly Choice[], typed: string): string {
  const same = (text: string) => text.toLowerCase() === typed.toLowerCase();
  return choices.find(({ value, label }) => same(value) || same(label))?.value ?? typed;
}

/** Why a value does not fit its field, in a sentence; `undefined` when it does. */
export function valueProblem({ title, wants }: FormField, value: JsonPart): string | undefined {
  const why = kindProblem(wants, value);
  return why === undefined ? undefined : `${title} ${why}.`;
}

function kindProblem(wants: FieldKind, value: JsonPart): string | undefined {
  switch (wants.kind) {
    case 'text':
      return typeof value === 'string' ? textProblem(wants, value) : 'must be text';
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      if (wants.isWhole && !Number.isInteger(value)) return 'must be a whole number';
      return rangeProblem(wants, value, '');
    }
    case 'yes or no':
      return typeof value === 'boolean' ? undefined : 'must be yes or no';
    case 'one of':
      return wants.choices.some((one) => one.value === value) ? undefined : `must be one of ${labels(wants.choices)}`;
    case 'some of': {
      if (!Array.isArray(value)) return 'must be a list';
      const isKnown = value.every((one) => wants.choices.some((choice) => choice.value === one));
      if (!isKnown) return `must be some of ${labels(wants.choices)}`;
      return rangeProblem(wants, value.length, ' choices');
    }
    default:
      return exhaustive(wants);
  }
}

type TextKind = Extract<FieldKind, { kind: 'text' }>;

function textProblem(wants: TextKind, value: string): string | undefined {
  const length = rangeProblem(wants, [...value].length, ' characters');
  if (length !== undefined) return length;
  const format = FORMATS.find(([name]) => name === wants.format);
  return format === undefined || format[1](value) ? undefined : `must be ${format[2]}`;
}

/** Formats that servers may ask for. */
const FORMATS: readonly (readonly [string, (text: string) => boolean, string])[] = [
  ['email', (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text), 'an e-mail address'],
  ['uri', (text) => URL.canParse(text), 'an address with its scheme, such as https://example.com'],
  ['date', isDate, 'a date such as 2026-01-31'],
  [
    'date-time',
    (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) && !Number.isNaN(Date.parse(text)),
    'a time such as 2026-01-31T12:00:00Z',
  ],
];

/** A day that is in the calendar. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function rangeProblem(
  { atLeast, atMost }: { readonly atLeast: number | undefined; readonly atMost: number | undefined },
  amount: number,
  unit: string,
): string | undefined {
  if (atLeast !== undefined && amount < atLeast) return `must be at least ${atLeast}${unit}`;
  if (atMost !== undefined && amount > atMost) return `must be at most ${atMost}${unit}`;
  return undefined;
}

function labels(choices: readonly Choice[]): string {
  return choices.map(({ label }) => label).join(', ');
}
