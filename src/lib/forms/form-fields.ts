import type { JsonPart, JsonShape } from '../as-json.ts';

/** One thing that a form asks for. */
export type FormField = {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly wants: FieldKind;
  readonly default: JsonPart | undefined;
};

export type FieldKind =
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

export type Choice = { readonly value: string; readonly label: string };

/** What a form asks for, from its JSON schema: the flat kind that MCP servers send. Whatever is not understood is text. */
export function formFields(schema: JsonShape): readonly FormField[] {
  const properties = isShape(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, value]) => {
    const property = isShape(value) ? value : {};
    return {
      name,
      title: textOf(property.title) ?? name,
      description: textOf(property.description),
      isRequired: required.includes(name),
      wants: kindOf(property),
      default: property.default,
    };
  });
}

function kindOf(property: JsonShape): FieldKind {
  const single = choicesOf(property);
  if (single !== undefined) return { kind: 'one of', choices: single };
  switch (property.type) {
    case 'boolean':
      return { kind: 'yes or no' };
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        isWhole: property.type === 'integer',
        atLeast: numberOf(property.minimum),
        atMost: numberOf(property.maximum),
      };
    case 'array': {
      const choices = isShape(property.items) ? (choicesOf(property.items) ?? []) : [];
      return { kind: 'some of', choices, atLeast: numberOf(property.minItems), atMost: numberOf(property.maxItems) };
    }
    default:
      return {
        kind: 'text',
        format: textOf(property.format),
        atLeast: numberOf(property.minLength),
        atMost: numberOf(property.maxLength),
      };
  }
}

/** Choices as a list of values, with or without names beside it, or as values that carry their titles. */
function choicesOf(property: JsonShape): readonly Choice[] | undefined {
  if (Array.isArray(property.enum)) {
    const names = Array.isArray(property.enumNames) ? property.enumNames : [];
    return property.enum.flatMap((value, at) =>
      typeof value === 'string' ? [{ value, label: textOf(names[at]) ?? value }] : [],
    );
  }
  const titled = [property.oneOf, property.anyOf].find((one) => Array.isArray(one));
  if (!Array.isArray(titled)) return undefined;
  const choices = titled.flatMap((one) =>
    isShape(one) && typeof one.const === 'string' ? [{ value: one.const, label: textOf(one.title) ?? one.const }] : [],
  );
  return choices.length === 0 ? undefined : choices;
}

function textOf(value: JsonPart | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: JsonPart | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function isShape(value: JsonPart | undefined): value is JsonShape {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
