import type { JsonShape } from '../as-json.ts';
import { valueProblem } from './field-value.ts';
import type { FormField } from './form-fields.ts';

/** What was filled in, with the form's own defaults where nothing was. */
export function withDefaults(fields: readonly FormField[], content: JsonShape): JsonShape {
  const defaults = fields.flatMap(({ name, default: standard }) =>
    standard === undefined || content[name] !== undefined ? [] : [[name, standard] as const],
  );
  return { ...Object.fromEntries(defaults), ...content };
}

/** Why a form cannot be sent as it is filled in, in a sentence; `undefined` when it can. */
export function contentProblem(fields: readonly FormField[], content: JsonShape): string | undefined {
  for (const field of fields) {
    const value = content[field.name];
    if (value === undefined && field.isRequired) return `${field.title} is missing.`;
    const problem = value === undefined ? undefined : valueProblem(field, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
