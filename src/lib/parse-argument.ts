import { z } from 'zod';
import { findClosestWord } from './text/closest-word.ts';

/** Checks an argument of the application against a schema, and throws an error that names the wrong field. */
export function parseArgument<Shape extends z.core.$ZodShape>(
  caller: string,
  argument: unknown,
  schema: z.ZodObject<Shape>,
): z.output<z.ZodObject<Shape>> {
  const parsed = schema.safeParse(argument);
  if (parsed.success) return parsed.data;
  throw new TypeError(
    `${caller}: ${parsed.error.issues
      .slice(0, 3)
      .map(describeIssue(Object.keys(schema.shape)))
      .join(' ')}`,
  );
}

function describeIssue(known: readonly string[]) {
  return (issue: z.core.$ZodIssue): string => {
    const at = issue.path.map(String).join('.');
    if (issue.code !== 'unrecognized_keys' || at !== '') {
      const problem = at === '' && issue.code === 'invalid_type' ? 'must be an object' : issue.message;
      return `${at === '' ? 'the argument' : at}: ${problem.replace(/\.$/, '')}.`;
    }
    const closest = findSimilarName(issue.keys[0] ?? '', known);
    const hint = closest === undefined ? `Known: ${known.join(', ')}.` : `Did you mean "${closest}"?`;
    return `unknown field "${issue.keys.join('", "')}". ${hint}`;
  };
}

function findSimilarName(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  return findClosestWord(name, known) ?? known.find((other) => other.toLowerCase().includes(lower));
}

/** Schema of a function. */
export function createCallbackSchema<Callback>(): z.ZodCustom<Callback, Callback> {
  return z.custom<Callback>((value) => typeof value === 'function', 'must be a function');
}
