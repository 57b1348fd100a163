import { extname } from 'node:path';
import { getErrorMessage, PERMISSION_MODES } from '@ouro-cli/ouro/commands';
import { parse } from 'yaml';
import { z } from 'zod';
import { FORGE_KINDS } from '../git/open-forge.ts';

const text = z.string();
const nonEmptyText = text.min(1);
const oneOrMore = z.union([nonEmptyText.transform((value) => [value]), z.array(nonEmptyText)]);

const verify = z
  .strictObject({
    run: nonEmptyText.optional(),
    ask: nonEmptyText.optional(),
    tries: z.number().int().min(1).max(20).default(2),
  })
  .refine((value) => (value.run === undefined) !== (value.ask === undefined), {
    error: 'needs either "run" (a command) or "ask" (a question for a reviewer)',
  });

const over = z.strictObject({
  repos: z.union([oneOrMore, z.strictObject({ command: nonEmptyText })]).optional(),
  files: oneOrMore.optional(),
  worktrees: z.literal(true).optional(),
  items: nonEmptyText.optional(),
});

const variable = z.string().regex(/^[A-Za-z_]\w*$/);

/** Dollars, at least a millionth: the queue counts in millionths. */
const money = z.number().min(1e-6).max(1e6);
/** Timers end at about 35,000 minutes. */
const minutes = z.number().positive().max(30_000);

const limits = z.strictObject({
  each: money.default(2),
  all: money.optional(),
  minutes: minutes.default(45),
  turns: z.number().int().min(1).optional(),
  attempts: z.number().int().min(1).max(100).default(3),
  at_once: z.number().int().min(1).max(1000).default(8),
});

const collect = z.strictObject({
  as: z.enum(['patches', 'branch', 'pr']).default('patches'),
  name: nonEmptyText.optional(),
  summary: nonEmptyText.optional(),
  forge: z.enum(FORGE_KINDS).optional(),
  draft: z.boolean().optional(),
  labels: z.array(nonEmptyText).optional(),
  reviewers: z.array(nonEmptyText).optional(),
  body: nonEmptyText.optional(),
});

/** A task file: a prompt, the targets it runs on, and its limits. */
const taskFile = z.strictObject({
  name: nonEmptyText.optional(),
  prompt: nonEmptyText,
  over,
  ref: nonEmptyText.optional(),
  model: nonEmptyText.optional(),
  account: z
    .string()
    .regex(/^[\w.-]+$/)
    .optional(),
  mode: z.enum(PERMISSION_MODES).default('acceptEdits'),
  allowedTools: z.array(nonEmptyText).default([]),
  disallowedTools: z.array(nonEmptyText).default([]),
  env: z.array(variable).default([]),
  secrets: z.array(variable).default([]),
  schema: z.record(text, z.json()).optional(),
  verify: verify.optional(),
  collect: collect.default({ as: 'patches' }),
  limits: limits.default({ each: 2, minutes: 45, attempts: 3, at_once: 8 }),
  priority: z.number().int().min(-1000).max(1000).default(0),
});

/** A parsed task file with its defaults. */
export type TaskFile = z.infer<typeof taskFile>;
/** A task file as written, without its defaults. */
export type TaskFileInput = z.input<typeof taskFile>;

/** A line of a JSON Lines file, which is a task of its own. */
const taskLine = taskFile.omit({ over: true, collect: true, limits: true, name: true }).extend({
  repo: nonEmptyText.optional(),
  folder: nonEmptyText.optional(),
  title: nonEmptyText.optional(),
  minutes: minutes.default(45),
  turns: z.number().int().min(1).optional(),
});
/** A parsed line of a JSON Lines file. */
export type JsonlTaskLine = z.infer<typeof taskLine>;

/** An error in a task file. Its message names the location. */
export class TaskFileError extends Error {
  override readonly name = 'TaskFileError';
}

/** Parses a task file: YAML or JSON, or one task per line if its name ends in `.jsonl`. */
export function parseTaskFile(
  source: string,
  name: string,
): { readonly file: TaskFile } | { readonly lines: readonly JsonlTaskLine[] } {
  if (extname(name) !== '.jsonl') return { file: parseWith(taskFile, parseYamlSource(source, name), name) };
  const lines = source.split('\n').map((line, at) => ({ line: line.trim(), at: at + 1 }));
  return {
    lines: lines
      .filter(({ line }) => line !== '')
      .map(({ line, at }) => parseWith(taskLine, parseJsonLine(line, `${name}:${at}`), `${name}:${at}`)),
  };
}

/** Creates a task file from command line flags. */
export const createTaskFileFromFlags = (input: TaskFileInput): TaskFile =>
  parseWith(taskFile, input, 'The command line');

function parseWith<Type extends z.ZodType>(schema: Type, value: unknown, name: string): z.infer<Type> {
  const createError = (problem: string) => new TaskFileError(`${problem}. A complete example: ouro help fleet`);
  return validateFileContent(schema, value, name, createError);
}

const parseYamlSource = (source: string, name: string): unknown =>
  parseYaml(source, name, (problem) => new TaskFileError(problem));

function parseJsonLine(source: string, name: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new TaskFileError(`${name} is not valid JSON. A .jsonl file has one task per line.`);
  }
}

type CreateError = (problem: string) => Error;

/** Parses YAML. The error names the file and the first line of the problem. */
export function parseYaml(source: string, name: string, createError: CreateError): unknown {
  try {
    return parse(source);
  } catch (thrown) {
    // Unknown aliases, and those that would fill the memory, raise other errors than YAMLParseError.
    throw createError(`${name} is not valid YAML: ${getErrorMessage(thrown).split('\n')[0]}`);
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
