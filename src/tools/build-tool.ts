import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import type { ToolStatement } from '../contracts/permission.ts';
import type { CallContext, Tool, ToolOutcome } from '../contracts/tool.ts';
import { asJson } from '../lib/as-json.ts';
import { checkOfSchema } from './check-of-schema.ts';

/** A tool as its author writes it. What is left out is answered with the most cautious value. */
export type ToolDefinition<Schema extends z.ZodType<JsonObject>> = ToolParts<z.output<Schema>> & {
  /** What its input must be. */
  readonly input: Schema;
};

/** A tool whose input is told by a JSON schema: what fits it comes as a plain object. */
export type JsonToolDefinition = ToolParts<JsonObject> & {
  /** A JSON schema of an object, which is also what the model reads. */
  readonly input: JsonObject;
};

/** What a tool is besides its input. */
export type ToolParts<Input extends JsonObject> = ToolStatement & {
  readonly label?: string;
  /** A text that depends on what holds now is asked for each time. */
  readonly prompt: string | (() => string);
  readonly maxResultChars?: number;
  readonly deferred?: boolean;
  readonly source?: Tool['source'];
  readonly isReadOnly?: (input: Input) => boolean;
  readonly isConcurrencySafe?: (input: Input) => boolean;
  /** Repairs arguments before validation (a number sent as text, an old parameter name). */
  readonly prepareArguments?: (input: JsonObject) => JsonObject;
  readonly title?: (input: Input) => string;
  readonly call: (input: Input, context: CallContext) => Promise<ToolOutcome>;
};

export const DEFAULT_MAX_RESULT_CHARS = 30_000;

/** Binds a definition to its schema. Not read-only and not concurrency-safe, unless it says otherwise. */
export function buildTool<Schema extends z.ZodType<JsonObject>>(definition: ToolDefinition<Schema>): Tool;
export function buildTool(definition: JsonToolDefinition): Tool;
export function buildTool(definition: ToolDefinition<z.ZodType<JsonObject>> | JsonToolDefinition): Tool {
  const { schema, check } = inputOf(definition);
  return {
    name: definition.name,
    aliases: definition.aliases ?? [],
    label: definition.label ?? definition.name,
    get spec() {
      const { name, prompt, result } = definition;
      const spec = { name, description: promptOf(prompt), input_schema: schema() };
      return result === 'once' ? { ...spec, result } : spec;
    },
    maxResultChars: definition.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS,
    deferred: definition.deferred ?? false,
    source: definition.source ?? 'builtin',
    statement: definition,
    prepare(input) {
      if (!isJsonObject(input)) {
        return { ok: false, problem: `${definition.name} takes a JSON object, not ${kindOf(input)}.` };
      }
      const parsed = check.safeParse(definition.prepareArguments?.(input) ?? input);
      if (!parsed.success) return { ok: false, problem: explainIssues(definition.name, parsed.error) };
      const value = parsed.data;
      return {
        ok: true,
        call: {
          input: value,
          title: definition.title?.(value) ?? definition.name,
          isReadOnly: definition.isReadOnly?.(value) ?? false,
          isConcurrencySafe: definition.isConcurrencySafe?.(value) ?? false,
          call: (context) => definition.call(value, context),
        },
      };
    },
  };
}

type InputOf = { readonly schema: () => JsonObject; readonly check: z.ZodType<JsonObject> };

/** The form of the input as the model reads it, and who checks it. */
function inputOf({ name, input }: ToolDefinition<z.ZodType<JsonObject>> | JsonToolDefinition): InputOf {
  if (isZod(input)) return { schema: () => jsonSchemaOf(input), check: input };
  const { type = 'object', ...rest } = input;
  if (type !== 'object') throw new Error(`The input of ${name} must be an object: its schema says ${String(type)}.`);
  const schema = { type, ...rest };
  const check = checkOfSchema(schema, `The input schema of ${name}`);
  return { schema: () => schema, check: check.pipe(z.record(z.string(), z.json())) };
}

/** By what it can do: another copy of the library makes other classes. */
function isZod(input: z.ZodType<JsonObject> | JsonObject): input is z.ZodType<JsonObject> {
  return typeof input.safeParse === 'function';
}

function promptOf(prompt: string | (() => string)): string {
  return typeof prompt === 'string' ? prompt : prompt();
}

/** Written once for each schema, however many conversations and sub-agents make a tool with it. */
const written = new WeakMap<z.ZodType, JsonObject>();

function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const known = written.get(schema);
  if (known !== undefined) return known;
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  const made = asJson(rest);
  written.set(schema, made);
  return made;
}

function kindOf(input: JsonValue): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'a list' : `a ${typeof input}`;
}

function explainIssues(tool: string, error: z.ZodError): string {
  const lines = error.issues.slice(0, 5).map((issue) => {
    const field = issue.path.length === 0 ? 'the input' : `"${issue.path.join('.')}"`;
    return `${field}: ${issue.message}`;
  });
  return `The input of ${tool} does not fit: ${lines.join('; ')}. Correct it and call again.`;
}
