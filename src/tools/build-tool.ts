import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import type { ToolStatement } from '../contracts/permission.ts';
import type { CallContext, Tool, ToolOutcome } from '../contracts/tool.ts';
import { asJson } from '../lib/as-json.ts';

/** A tool as its author writes it. What is left out is answered with the most cautious value. */
export type ToolDefinition<Schema extends z.ZodType<JsonObject>> = ToolStatement & {
  readonly label?: string;
  /** A text that depends on what holds now is asked for each time. */
  readonly prompt: string | (() => string);
  readonly input: Schema;
  readonly maxResultChars?: number;
  readonly deferred?: boolean;
  readonly source?: Tool['source'];
  readonly isReadOnly?: (input: z.output<Schema>) => boolean;
  readonly isConcurrencySafe?: (input: z.output<Schema>) => boolean;
  /** Repairs arguments before validation (a number sent as text, an old parameter name). */
  readonly prepareArguments?: (input: JsonObject) => JsonObject;
  readonly title?: (input: z.output<Schema>) => string;
  readonly call: (input: z.output<Schema>, context: CallContext) => Promise<ToolOutcome>;
};

export const DEFAULT_MAX_RESULT_CHARS = 30_000;

/** Binds a definition to its schema. Not read-only and not concurrency-safe, unless it says otherwise. */
export function buildTool<Schema extends z.ZodType<JsonObject>>(definition: ToolDefinition<Schema>): Tool {
  return {
    name: definition.name,
    aliases: definition.aliases ?? [],
    label: definition.label ?? definition.name,
    get spec() {
      const { name, prompt, input, result } = definition;
      const spec = { name, description: promptOf(prompt), input_schema: jsonSchemaOf(input) };
      return result === 'once' ? { ...spec, result } : spec;
    },
    maxResultChars: definition.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS,
    deferred: definition.deferred ?? false,
    source: definition.source ?? 'builtin',
    prepare(input) {
      if (!isJsonObject(input)) {
        return { ok: false, problem: `${definition.name} takes a JSON object, not ${kindOf(input)}.` };
      }
      const parsed = definition.input.safeParse(definition.prepareArguments?.(input) ?? input);
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
