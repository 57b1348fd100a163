import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { messageOf } from '../../lib/errors.ts';
import { splitList } from './split-list.ts';
import { UsageError } from './usage-error.ts';

const list = z.array(z.string()).transform(splitList);
const commas = z.string().transform((text) => splitList([text]));
const on = z.literal(true);

const flagSchema = z.object({
  print: on.optional(),
  continue: on.optional(),
  resume: z.union([z.string(), on]).optional(),
  forkSession: on.optional(),
  resumeSessionAt: z.string().min(1, 'must not be empty').optional(),
  sessionId: z
    .uuid('must be a UUID')
    .transform((id) => id.toLowerCase())
    .optional(),
  sessionPersistence: z.boolean().default(true),
  model: z.string().min(1, 'must not be empty').optional(),
  fallbackModel: commas.optional(),
  effort: z
    .enum(['off', 'low', 'medium', 'high', 'xhigh', 'max'])
    .transform((effort) => (effort === 'xhigh' ? ('max' as const) : effort))
    .optional(),
  maxThinkingTokens: numberFrom(0, 'whole').optional(),
  thinking: z.enum(['adaptive', 'enabled', 'disabled']).optional(),
  betas: commas.optional(),
  permissionMode: z.string().optional(),
  allowedTools: list.optional(),
  disallowedTools: list.optional(),
  tools: list.optional(),
  permissionPromptTool: z.string().optional(),
  dangerouslySkipPermissions: on.optional(),
  allowDangerouslySkipPermissions: on.optional(),
  trust: on.optional(),
  outputFormat: z.enum(['text', 'json', 'stream-json']).optional(),
  inputFormat: z.enum(['text', 'stream-json']).optional(),
  includePartialMessages: on.optional(),
  includeHookEvents: on.optional(),
  replayUserMessages: on.optional(),
  verbose: on.optional(),
  jsonSchema: z.string().optional(),
  maxTurns: numberFrom(1, 'whole').optional(),
  maxBudgetUsd: numberFrom(0, 'any').optional(),
  tokenBudget: numberFrom(1, 'whole').optional(),
  a11y: on.optional(),
  debug: on.optional(),
  debugFile: z.string().min(1, 'must not be empty').optional(),
  worktree: z.union([z.string(), z.literal(true)]).optional(),
  addDir: z.array(z.string()).default([]),
  settings: z.string().optional(),
  managedSettings: z.string().optional(),
  settingSources: commas.optional(),
  mcpConfig: z.array(z.string()).default([]),
  strictMcpConfig: on.optional(),
  agents: z.string().optional(),
  agent: z.string().optional(),
  systemPrompt: z.string().optional(),
  systemPromptFile: z.string().optional(),
  appendSystemPrompt: z.string().optional(),
  appendSystemPromptFile: z.string().optional(),
});

/** Every flag with its value, checked. */
export type FlagValues = z.output<typeof flagSchema>;

/** The border between the command line and everybody behind it. */
export function readFlagValues(values: Readonly<Record<string, unknown>>): FlagValues {
  const read = flagSchema.safeParse(values);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const flag = String(issue?.path[0] ?? '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`Option --${flag} ${issue?.message ?? 'is not understood'}.`);
}

function numberFrom(least: number, kind: 'whole' | 'any') {
  const what = kind === 'whole' ? 'a whole number' : 'a number';
  return z.string().transform((text, context) => {
    const number = Number(text);
    const fits = text.trim() !== '' && number >= least && (kind === 'any' || Number.isSafeInteger(number));
    if (fits) return number;
    context.addIssue({ code: 'custom', message: `must be ${what} from ${least} up, not "${text}"` });
    return z.NEVER;
  });
}

/** JSON written into a flag. */
function jsonOf(flag: string, text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new UsageError(`Option ${flag} is not valid JSON: ${messageOf(thrown)}.`);
  }
}

export function jsonObjectOf(flag: string, text: string): JsonObject {
  const value = jsonOf(flag, text);
  if (isJsonObject(value)) return value;
  throw new UsageError(`Option ${flag} must be a JSON object.`);
}
