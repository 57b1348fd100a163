import { exhaustive } from './errors.ts';
import { isJsonRecord, type PlainObject, type PlainValue } from './json.ts';

/** A field of a form. */
export type FormField = {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly type: FieldType;
  readonly default: PlainValue | undefined;
};

/** The type of a field with its limits. */
type FieldType =
  | {
      readonly kind: 'text';
      readonly format: string | undefined;
      readonly atLeast: number | undefined;
      readonly atMost: number | undefined;
    }
  | {
      readonly kind: 'number';
      readonly isWhole: boolean;
      readonly atLeast: number | undefined;
      readonly atMost: number | undefined;
    }
  | { readonly kind: 'yes or no' }
  | { readonly kind: 'one of'; readonly choices: readonly Choice[] }
  | {
      readonly kind: 'some of';
      readonly choices: readonly Choice[];
      readonly atLeast: number | undefined;
      readonly atMost: number | undefined;
    };

/** An option of a choice field. */
type Choice = { readonly value: string; readonly label: string };

/**
 * Parses a flat JSON schema, as MCP servers send it, into form fields. Properties of unknown type are text. A `pattern` is
 * left to the server: its regular expression could take forever.
 */
export function parseFormFields(schema: PlainObject): readonly FormField[] {
  const properties = isJsonRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, value]): FormField => {
    const property = isJsonRecord(value) ? value : {};
    return {
      name,
      title: nonEmptyText(property.title) ?? name,
      description: nonEmptyText(property.description),
      isRequired: required.includes(name),
      type: parseFieldType(property),
      default: property.default,
    };
  });
}

function parseFieldType(property: PlainObject): FieldType {
  const single = parseChoices(property);
  if (single !== undefined) return { kind: 'one of', choices: single };
  switch (property.type) {
    case 'boolean':
      return { kind: 'yes or no' };
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        isWhole: property.type === 'integer',
        atLeast: optionalNumber(property.minimum),
        atMost: optionalNumber(property.maximum),
      };
    case 'array': {
      const choices = isJsonRecord(property.items) ? (parseChoices(property.items) ?? []) : [];
      return {
        kind: 'some of',
        choices,
        atLeast: optionalNumber(property.minItems),
        atMost: optionalNumber(property.maxItems),
      };
    }
    default:
      return {
        kind: 'text',
        format: nonEmptyText(property.format),
        atLeast: optionalNumber(property.minLength),
        atMost: optionalNumber(property.maxLength),
      };
  }
}

/** Parses choices: an `enum` with optional `enumNames`, or a list of constants with titles. */
function parseChoices(property: PlainObject): readonly Choice[] | undefined {
  if (Array.isArray(property.enum)) {
    const names = Array.isArray(property.enumNames) ? property.enumNames : [];
    return property.enum.flatMap((value, at) =>
      typeof value === 'string' ? [{ value, label: nonEmptyText(names[at]) ?? value }] : [],
    );
  }
  const titled = [property.oneOf, property.anyOf].find((list) => Array.isArray(list));
  if (!Array.isArray(titled)) return undefined;
  const choices = titled.flatMap((item) =>
    isJsonRecord(item) && typeof item.const === 'string'
      ? [{ value: item.const, label: nonEmptyText(item.title) ?? item.const }]
      : [],
  );
  return choices.length === 0 ? undefined : choices;
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function optionalNumber(value: PlainValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** A parsed value, or why the typed text is not valid. */
type ParsedFieldValue =
  | { readonly ok: true; readonly value: PlainValue }
  | { readonly ok: false; readonly problem: string };

const YES = /^(?:y|yes|true|1)$/i;
const NO = /^(?:n|no|false|0)$/i;

/** Parses typed text: numbers, yes or no, choices by label or value, several choices separated by commas. */
export function parseFormFieldValue(field: FormField, typed: string): ParsedFieldValue {
  const value = convertText(field.type, typed.trim());
  const problem = validateFormFieldValue(field, value);
  return problem === undefined ? { ok: true, value } : { ok: false, problem };
}

function convertText(type: FieldType, typed: string): PlainValue {
  switch (type.kind) {
    case 'text':
      return typed;
    case 'number':
      return typed === '' || Number.isNaN(Number(typed)) ? typed : Number(typed);
    case 'yes or no':
      return YES.test(typed) ? true : NO.test(typed) ? false : typed;
    case 'one of':
      return findChoice(type.choices, typed);
    case 'some of':
      return typed
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .map((part) => findChoice(type.choices, part));
    default:
      return exhaustive(type);
  }
}

/** Returns the value of the choice with this label or value, or the typed text itself. */
function findChoice(choices: readonly Choice[], typed: string): string {
  const isSame = (text: string) => text.toLowerCase() === typed.toLowerCase();
  return choices.find(({ value, label }) => isSame(value) || isSame(label))?.value ?? typed;
}

/** Validates a value for its field. Returns the problem as a sentence, `undefined` if the value is valid. */
export function validateFormFieldValue({ title, type }: FormField, value: PlainValue): string | undefined {
  const problem = validateType(type, value);
  return problem === undefined ? undefined : `${title} ${problem}.`;
}

function validateType(type: FieldType, value: PlainValue): string | undefined {
  switch (type.kind) {
    case 'text':
      return typeof value === 'string' ? validateText(type, value) : 'must be text';
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      if (type.isWhole && !Number.isInteger(value)) return 'must be a whole number';
      return validateRange(type, value, '');
    }
    case 'yes or no':
      return typeof value === 'boolean' ? undefined : 'must be yes or no';
    case 'one of':
      return type.choices.some((choice) => choice.value === value)
        ? undefined
        : `must be one of ${joinLabels(type.choices)}`;
    case 'some of': {
      if (!Array.isArray(value)) return 'must be a list';
      const isKnown = value.every((part) => type.choices.some((choice) => choice.value === part));
      if (!isKnown) return `must be some of ${joinLabels(type.choices)}`;
      return validateRange(type, value.length, ' choices');
    }
    default:
      return exhaustive(type);
  }
}

type TextKind = Extract<FieldType, { kind: 'text' }>;

function validateText(type: TextKind, value: string): string | undefined {
  const lengthProblem = validateRange(type, [...value].length, ' characters');
  if (lengthProblem !== undefined) return lengthProblem;
  const format = FORMATS.find(([name]) => name === type.format);
  return format === undefined || format[1](value) ? undefined : `must be ${format[2]}`;
}

/** The formats that a schema may require: name, test, description. */
const FORMATS: readonly (readonly [string, (text: string) => boolean, string])[] = [
  ['email', (text) => /^[^\s@]+@[^\s@][^\s@.]*\.[^\s@]+$/.test(text), 'an e-mail address'],
  ['uri', (text) => URL.canParse(text), 'an address with its scheme, such as https://example.com'],
  ['date', isDate, 'a date such as 2026-01-31'],
  [
    'date-time',
    (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) && !Number.isNaN(Date.parse(text)),
    'a time such as 2026-01-31T12:00:00Z',
  ],
];

/** Returns whether a text is a date that exists in the calendar. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function validateRange(
  { atLeast, atMost }: { readonly atLeast: number | undefined; readonly atMost: number | undefined },
  amount: number,
  unit: string,
): string | undefined {
  if (atLeast !== undefined && amount < atLeast) return `must be at least ${atLeast}${unit}`;
  if (atMost !== undefined && amount > atMost) return `must be at most ${atMost}${unit}`;
  return undefined;
}

function joinLabels(choices: readonly Choice[]): string {
  return choices.map(({ label }) => label).join(', ');
}

/** Returns the content of a form with the defaults of fields that were not filled in. */
export function applyFormDefaults(fields: readonly FormField[], content: PlainObject): PlainObject {
  const defaults = fields.flatMap(({ name, default: defaultValue }) =>
    defaultValue === undefined || content[name] !== undefined ? [] : [[name, defaultValue] as const],
  );
  return { ...Object.fromEntries(defaults), ...content };
}

/** Validates the content of a form. Returns the first problem as a sentence, `undefined` if the form can be sent. */
export function validateForm(fields: readonly FormField[], content: PlainObject): string | undefined {
  for (const field of fields) {
    const value = content[field.name];
    if (value === undefined && field.isRequired) return `${field.title} is missing.`;
    const problem = value === undefined ? undefined : validateFormFieldValue(field, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
