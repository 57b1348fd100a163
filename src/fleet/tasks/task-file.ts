import { extname } from 'node:path';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { MODES } from '../../contracts/permission.ts';

const text = z.string();
const words = text.min(1);
const some = z.union([words.transform((one) => [one]), z.array(words)]);

const verify = z
  .strictObject({
    run: words.optional(),
    ask: words.optional(),
    tries: z.number().int().min(1).max(20).default(2),
  })
  .refine((value) => (value.run === undefined) !== (value.ask === undefined), {
    error: 'needs either "run" (a command) or "ask" (a question for a judge)',
  });

const over = z.strictObject({
  repos: z.union([some, z.strictObject({ command: words })]).optional(),
  files: some.optional(),
  worktrees: z.literal(true).optional(),
  items: words.optional(),
});

const limits = z.strictObject({
  each: z.number().positive().default(2),
  all: z.number().positive().optional(),
  minutes: z.number().positive().default(45),
  turns: z.number().int().min(1).optional(),
  attempts: z.number().int().min(1).max(100).default(3),
  at_once: z.number().int().min(1).max(1000).default(8),
});

const collect = z.strictObject({
  as: z.enum(['patches', 'branch', 'pr']).default('patches'),
  name: words.optional(),
  summary: words.optional(),
});

/** What people write: one prompt, over what, and how much it may cost. */
const taskFile = z.strictObject({
  name: words.optional(),
  prompt: words,
  over,
  ref: words.optional(),
  model: words.optional(),
  account: z
    .string()
    .regex(/^[\w.-]+$/)
    .optional(),
  mode: z.enum(MODES).default('acceptEdits'),
  allowedTools: z.array(words).default([]),
  disallowedTools: z.array(words).default([]),
  env: z.array(z.string().regex(/^[A-Za-z_]\w*$/)).default([]),
  schema: z.record(text, z.json()).optional(),
  verify: verify.optional(),
  collect: collect.default({ as: 'patches' }),
  limits: limits.default({ each: 2, minutes: 45, attempts: 3, at_once: 8 }),
  priority: z.number().int().min(-1000).max(1000).default(0),
});

export type TaskFile = z.infer<typeof taskFile>;
export type TaskFileInput = z.input<typeof taskFile>;

/** One line of a JSON Lines file is a task of its own. */
const taskLine = taskFile.omit({ over: true, collect: true, limits: true, name: true }).extend({
  repo: words.optional(),
  folder: words.optional(),
  title: words.optional(),
  minutes: z.number().positive().default(45),
  turns: z.number().int().min(1).optional(),
});
export type TaskLine = z.infer<typeof taskLine>;

/** Something in a task file that cannot be, in a sentence that names the place. */
export class TaskFileProblem extends Error {
  override readonly name = 'TaskFileProblem';
}

/** Reads a task file: YAML or JSON, or one task a line when its name ends in `.jsonl`. */
export function readTaskFile(
  source: string,
  name: string,
): { readonly file: TaskFile } | { readonly lines: readonly TaskLine[] } {
  if (extname(name) !== '.jsonl') return { file: parsed(taskFile, parsedYaml(source, name), name) };
  const lines = source.split('\n').map((line, at) => ({ line: line.trim(), at: at + 1 }));
  return {
    lines: lines
      .filter(({ line }) => line !== '')
      .map(({ line, at }) => parsed(taskLine, parsedJson(line, `${name}:${at}`), `${name}:${at}`)),
  };
}

/** The same from flags. */
export const taskFileOf = (input: TaskFileInput): TaskFile => parsed(taskFile, input, 'The command line');

function parsed<Type extends z.ZodType>(schema: Type, value: unknown, name: string): z.infer<Type> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = (issue?.path ?? []).join('.');
  const what =
    issue?.code === 'unrecognized_keys'
      ? `has no key ${issue.keys.map((key) => `"${key}"`).join(', ')}`
      : issue?.message;
  throw new TaskFileProblem(
    `${name}${where === '' ? '' : `, at ${where}`}: ${what}. "ouro help fleet" shows a whole file.`,
  );
}

function parsedYaml(source: string, name: string): unknown {
  try {
    return parseYaml(source);
  } catch (thrown) {
    if (!(thrown instanceof YAMLParseError)) throw thrown;
    throw new TaskFileProblem(`${name} is not YAML: ${thrown.message.split('\n')[0]}`);
  }
}

function parsedJson(source: string, name: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new TaskFileProblem(`${name} is not JSON. A .jsonl file has one task a line.`);
  }
}
