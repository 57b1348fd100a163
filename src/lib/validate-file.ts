import { parse, YAMLParseError } from 'yaml';
import type { z } from 'zod';

type CreateError = (problem: string) => Error;

/** Parses YAML. The error names the file and the first line of the problem. */
export function parseYaml(source: string, name: string, createError: CreateError): unknown {
  try {
    return parse(source);
  } catch (thrown) {
    if (!(thrown instanceof YAMLParseError)) throw thrown;
    throw createError(`${name} is not valid YAML: ${thrown.message.split('\n')[0]}`);
  }
}

/** Validates the content of a file. The error names the file, the key and the first problem. */
export function validateFileContent<Type extends z.ZodType>(
  schema: Type,
  content: unknown,
  name: string,
  createError: CreateError,
): z.infer<Type> {
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = (issue?.path ?? []).join('.');
  const problem =
    issue?.code === 'unrecognized_keys'
      ? `unknown key ${issue.keys.map((key) => `"${key}"`).join(', ')}`
      : issue?.message;
  throw createError(`${name}${path === '' ? '' : `, at ${path}`}: ${problem}`);
}
