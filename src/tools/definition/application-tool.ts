import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import type { ToolTraits } from '../../contracts/permission.ts';
import type { CallContext, Tool, ToolOutcome } from '../../contracts/tool.ts';
import { createCallbackSchema, parseArgument } from '../../lib/parse-argument.ts';
import { buildTool, type ToolDefinitionBase } from './build-tool.ts';
import { resolveInputSchema } from './resolve-input-schema.ts';
import { type ToolResult, toToolOutcome } from './tool-result.ts';

/** A tool of an application: calls of it can need approval, and can be undone. */
export type AgentTool = Tool & {
  /** Returns why a call needs approval; `undefined` if it does not. */
  readonly requiresApproval?: (input: JsonObject) => string | undefined;
  /** Undoes a finished call of a run that was aborted or rejected. */
  readonly undo?: (input: JsonObject, outcome: ToolOutcome, context: CallContext) => Promise<void>;
};

/** The parts of a tool definition besides the input schema. */
export type ToolParts<Input extends JsonObject> = Omit<ToolDefinitionBase<Input>, 'call' | 'source'> & {
  readonly call: (input: Input, context: CallContext) => ToolResult | Promise<ToolResult>;
  /**
   * Asks before a call: always, or if the function returns true or a reason; `false` never. Without it, calls that are
   * not read-only ask, unless `beforeToolCall` looks at them. Without an answerer, no call that asks runs.
   */
  readonly requiresApproval?: boolean | ((input: Input) => boolean | string);
  /** Undoes a finished call of a run that was aborted or rejected. Calls are undone in reverse order. */
  readonly undo?: (input: Input, outcome: ToolOutcome, context: CallContext) => void | Promise<void>;
};

/** A tool definition with a zod schema. Omitted fields get the most cautious value. */
export type ToolDefinition<Schema extends z.ZodType<JsonObject>> = ToolParts<z.output<Schema>> & {
  /** Schema of the input. */
  readonly input: Schema;
};

/** A tool definition with a JSON schema; valid input is passed as a plain object. */
export type JsonToolDefinition = ToolParts<JsonObject> & {
  /** JSON schema of an object, sent to the model unchanged. */
  readonly input: JsonObject;
};

/**
 * A schema of another library that implements Standard Schema (valibot, arktype, zod 3). `jsonSchema` describes it for
 * the model, unless the library can.
 */
export type StandardToolDefinition = ToolParts<JsonObject> & {
  readonly input: {
    readonly '~standard': { readonly version: 1; readonly vendor: string; readonly validate: unknown };
  };
  readonly jsonSchema?: JsonObject;
};

/** A tool as a plain object, in the form of the API or of another library. Each part has one of several names. */
export type PlainTool = Partial<Omit<ToolParts<JsonObject>, 'name' | 'call'>> & {
  readonly name: string;
  readonly description?: string;
  readonly input?: unknown;
  readonly inputSchema?: unknown;
  readonly input_schema?: unknown;
  readonly parameters?: unknown;
  readonly jsonSchema?: JsonObject;
  readonly call?: PlainCall;
  readonly execute?: PlainCall;
  readonly run?: PlainCall;
  readonly handler?: PlainCall;
};

type PlainCall = (input: never, context: CallContext) => unknown;

/**
 * Builds a tool from its definition. Unless the definition says otherwise, it is not read-only and not
 * concurrency-safe.
 */
export function buildApplicationTool<Schema extends z.ZodType<JsonObject>>(
  definition: ToolDefinition<Schema>,
): AgentTool;
export function buildApplicationTool(definition: JsonToolDefinition | StandardToolDefinition): AgentTool;
export function buildApplicationTool(definition: PlainTool): AgentTool;
export function buildApplicationTool(definition: object): AgentTool {
  const { name, label, undo, requiresApproval, jsonSchema, ...fields } = parseDefinition(definition);
  const { isReadOnly, ...parts } = fields.parts;
  const definitionParts = {
    ...parts,
    name,
    ...(label === undefined ? {} : { label }),
    // If nobody can be asked, only read-only calls run.
    ...(isReadOnly === undefined || requiresApproval ? {} : { isReadOnly }),
    source: 'host' as const,
    prompt: fields.prompt,
    call: async (input: JsonObject, context: CallContext) => toToolOutcome(await fields.call(input, context), name),
  };
  const schema = resolveInputSchema(name, fields.input, jsonSchema);
  const tool = buildTool({ ...definitionParts, input: schema });
  const getReason = requiresApproval === undefined ? undefined : toFunction(requiresApproval);
  return {
    ...tool,
    // The copy would keep the first value of the getter.
    get spec() {
      return tool.spec;
    },
    ...(undo && {
      undo: async (input: JsonObject, outcome: ToolOutcome, context: CallContext) =>
        void (await undo(input, outcome, context)),
    }),
    ...(getReason && { requiresApproval: (input: JsonObject) => describeApproval(getReason(input), name) }),
  };
}

/** Returns whether a value is a finished tool, not a definition. */
export function isTool(value: object): value is AgentTool {
  return 'prepare' in value && typeof value.prepare === 'function' && 'spec' in value;
}

/** Providers accept no other names. */
const nameSchema = z
  .string('a tool needs a name')
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'a tool name has 1 to 64 letters, digits, _ and -');

const flagSchema = z.union([z.boolean(), createCallbackSchema<(input: JsonObject) => boolean>()]);
const promptSchema = z.union([z.string(), createCallbackSchema<() => string>()], 'must be a text for the model');
const callSchema = createCallbackSchema<(input: JsonObject, context: CallContext) => unknown>();

const partsSchema = z.object({
  aliases: z.array(z.string()).optional(),
  maxResultChars: z.number().positive().optional(),
  deferred: z.boolean().optional(),
  isReadOnly: flagSchema.optional(),
  isConcurrencySafe: flagSchema.optional(),
  prepareArguments: createCallbackSchema<(input: JsonObject) => JsonObject>().optional(),
  title: z.union([z.string(), createCallbackSchema<(input: JsonObject) => string>()]).optional(),
  facts: createCallbackSchema<NonNullable<ToolTraits['facts']>>().optional(),
  mainInput: z.string().optional(),
  result: z.enum(['repeatable', 'once']).optional(),
  subAgents: z.enum(['none', 'parents']).optional(),
  served: z.enum(['reads', 'changes', 'runs']).optional(),
});

const definitionSchema = z.strictObject({
  ...partsSchema.shape,
  name: nameSchema,
  label: z.string().optional(),
  // The fields below are the names that other libraries use for the same part.
  prompt: promptSchema.optional(),
  description: promptSchema.optional(),
  input: z.unknown().optional(),
  inputSchema: z.unknown().optional(),
  input_schema: z.unknown().optional(),
  parameters: z.unknown().optional(),
  call: callSchema.optional(),
  execute: callSchema.optional(),
  run: callSchema.optional(),
  handler: callSchema.optional(),
  jsonSchema: z
    .custom<JsonObject>((value) => typeof value === 'object' && value !== null, 'must be an object')
    .optional(),
  requiresApproval: z
    .union([z.boolean(), z.string(), createCallbackSchema<(input: JsonObject) => boolean | string>()])
    .optional(),
  undo: createCallbackSchema<(input: JsonObject, outcome: ToolOutcome, context: CallContext) => unknown>().optional(),
  type: z.enum(['function', 'custom']).optional(),
});

function parseDefinition(definition: object) {
  if (typeof definition !== 'object' || definition === null)
    throw new TypeError('buildTool: pass a definition with name and call.');
  const caller =
    'name' in definition && typeof definition.name === 'string' ? `buildTool(${definition.name})` : 'buildTool';
  const fields = parseArgument(caller, unwrapFunction(definition), definitionSchema);
  const { name, label, jsonSchema, requiresApproval, undo } = fields;
  const call = fields.call ?? fields.execute ?? fields.run ?? fields.handler;
  if (call === undefined) throw new TypeError(`${caller}: call is missing. It is the function that runs a call.`);
  return {
    name,
    label,
    jsonSchema,
    requiresApproval,
    undo,
    call,
    prompt: fields.prompt ?? fields.description ?? '',
    input: fields.input ?? fields.inputSchema ?? fields.input_schema ?? fields.parameters ?? {},
    parts: partsSchema.parse(fields),
  };
}

/** Unwraps the form of chat completions: `{ type: 'function', function: { name, … }, execute }`. */
function unwrapFunction(definition: object): object {
  if (!('function' in definition) || typeof definition.function !== 'object') return definition;
  const { function: inner, ...rest } = definition;
  return { ...rest, ...inner };
}

function toFunction<Result>(value: Result | ((input: JsonObject) => Result)): (input: JsonObject) => Result {
  return isFunction(value) ? value : () => value;
}

function isFunction<Result>(value: Result | ((input: JsonObject) => Result)): value is (input: JsonObject) => Result {
  return typeof value === 'function';
}

function describeApproval(reason: boolean | string, name: string): string | undefined {
  if (reason === true) return `${name} requires approval.`;
  return reason === false || reason === '' ? undefined : reason;
}
