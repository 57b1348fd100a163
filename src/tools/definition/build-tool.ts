import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { ToolSpec } from '../../contracts/model.ts';
import type { ToolTraits } from '../../contracts/permission.ts';
import type { ShellAnalysis } from '../../contracts/shell-analysis.ts';
import type { CallContext, CallStep, PreconditionContext, StepGuard, Tool, ToolOutcome } from '../../contracts/tool.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { copyAsJson } from '../../lib/json.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { createToolNameMatcher, type ForeignToolCallForms } from '../input/call-forms.ts';
import { checkInput, parseJsonText } from '../input/coerce-input.ts';
import { explainInputIssues } from '../input/explain-input.ts';
import { type NormalizedArguments, normalizeArguments } from '../input/normalize-arguments.ts';

/** The parts of a tool definition besides the input schema. */
export type ToolDefinitionBase<Input extends JsonObject> = ToolTraits & {
  readonly label?: string;
  /** Description for the model; a function is called for every request. */
  readonly prompt: string | (() => string);
  readonly maxResultChars?: number;
  readonly deferred?: boolean;
  readonly isHidden?: boolean;
  /** Forms of calls that are accepted besides those of the schema. */
  readonly forms?: ForeignToolCallForms;
  /** Arguments that are accepted, but not described to the model at present. */
  readonly listHiddenArguments?: () => readonly string[];
  readonly source?: Tool['source'];
  readonly isReadOnly?: boolean | ((input: Input) => boolean);
  readonly isConcurrencySafe?: boolean | ((input: Input, shell?: ShellAnalysis) => boolean);
  /** Analyzes the command line of a call. */
  readonly analyzeShell?: (input: Input) => ShellAnalysis;
  /** Returns the reason why a call is refused before anything else is done with it. */
  readonly findRefusal?: (input: Input, shell: ShellAnalysis | undefined) => string | undefined;
  /** Completes normalized arguments before validation. */
  readonly prepareArguments?: (input: JsonObject) => JsonObject;
  /** Adds to a valid input what only another program knows; hooks, gate and user see the result. */
  readonly completeInput?: (input: Input, context: PreconditionContext) => Promise<JsonObject>;
  /** Returns the reason why a valid call cannot succeed now; asked before the user is. */
  readonly checkPreconditions?: (input: Input, context: PreconditionContext) => Promise<string | undefined>;
  readonly title?: string | ((input: Input) => string);
  /** Divides a call into calls of other tools, which are made in its place. */
  readonly listSteps?: (input: Input) => readonly CallStep[];
  /** Records what the steps of a call are about to change. */
  readonly guardSteps?: (input: Input, context: PreconditionContext) => Promise<StepGuard>;
  readonly call: (input: Input, context: CallContext) => Promise<ToolOutcome>;
};

/** Length of a result above which it is stored in a file, unless the tool sets another limit. */
export const DEFAULT_MAX_RESULT_CHARS = 30_000;

type AnyDefinition = ToolDefinitionBase<JsonObject> & { readonly input: z.ZodType<JsonObject> | JsonObject };

/** Builds a tool; unless its definition says so, it is neither read-only nor concurrency-safe. */
export function buildTool<Schema extends z.ZodType<JsonObject>>(
  definition: ToolDefinitionBase<z.output<Schema>> & { readonly input: Schema },
): Tool;
export function buildTool(definition: AnyDefinition): Tool;
export function buildTool(definition: AnyDefinition): Tool {
  const { schema, check } = resolveInput(definition);
  const { name, forms, completeInput, checkPreconditions, listSteps, guardSteps } = definition;
  const renderSpec = createSpecRenderer(definition, schema);
  const names = [name, ...(definition.aliases ?? []), ...(forms?.names ?? [])];
  return {
    name,
    aliases: definition.aliases ?? [],
    label: definition.label ?? name,
    get spec() {
      return renderSpec();
    },
    maxResultChars: definition.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS,
    deferred: definition.deferred ?? false,
    source: definition.source ?? 'builtin',
    traits: definition,
    ...(definition.isHidden === true ? { isHidden: true } : {}),
    ...(forms === undefined
      ? {}
      : {
          answersTo: createToolNameMatcher(names),
        }),
    prepare(given) {
      const input = typeof given === 'string' ? parseJsonText(given) : given;
      if (!isJsonObject(input)) {
        const example = forms?.example === undefined ? '' : ` Example: ${forms.example}`;
        return { ok: false, problem: `${name} takes a JSON object, not ${describeKind(given)}.${example}` };
      }
      const normalized = normalizeInput(input, definition, schema());
      if (!normalized.ok) return normalized;
      const checked = checkInput(definition.prepareArguments?.(normalized.input) ?? normalized.input, check);
      if (!checked.ok) {
        const described = omitProperties(schema(), definition.listHiddenArguments?.() ?? []);
        const tool = { name, schema: described, example: forms?.example };
        return {
          ok: false,
          problem: explainInputIssues(tool, checked.issues, { given: input, checked: checked.input }),
        };
      }
      const value = checked.input;
      const shell = definition.analyzeShell?.(value);
      const refusal = definition.findRefusal?.(value, shell);
      if (refusal !== undefined) return { ok: false, problem: refusal };
      return {
        ok: true,
        call: {
          input: value,
          title: resolve(definition.title, value) ?? name,
          isReadOnly: resolve(definition.isReadOnly, value) ?? false,
          // Computed on demand: a title alone needs no analysis.
          get isConcurrencySafe() {
            return resolve(definition.isConcurrencySafe, value, shell) ?? false;
          },
          ...(shell === undefined ? {} : { shell }),
          ...(completeInput === undefined ? {} : { completeInput: (context) => completeInput(value, context) }),
          ...(checkPreconditions === undefined
            ? {}
            : { checkPreconditions: (context) => checkPreconditions(value, context) }),
          ...(listSteps === undefined ? {} : { steps: listSteps(value) }),
          ...(guardSteps === undefined ? {} : { guardSteps: (context) => guardSteps(value, context) }),
          call: async (context) => addNotes(await definition.call(value, context), normalized.notes),
        },
      };
    },
  };
}

function resolve<Value, Given extends readonly unknown[]>(
  value: Value | ((...given: Given) => Value) | undefined,
  ...given: Given
): Value | undefined {
  return isFunction(value) ? value(...given) : value;
}

function isFunction<Value, Given extends readonly unknown[]>(
  value: Value | ((...given: Given) => Value) | undefined,
): value is (...given: Given) => Value {
  return typeof value === 'function';
}

/**
 * Creates the function that renders the spec of a tool. It returns the same object until the spec changes, because
 * several parts of a request are compared, measured and recorded by identity.
 */
function createSpecRenderer(definition: ToolDefinitionBase<JsonObject>, schema: () => JsonObject): () => ToolSpec {
  let last: { readonly spec: ToolSpec; readonly hidden: string } | undefined;
  return () => {
    const description = renderDescription(definition);
    const hiddenArguments = definition.listHiddenArguments?.() ?? [];
    const hidden = hiddenArguments.join();
    if (last?.spec.description === description && last.hidden === hidden) return last.spec;
    const spec = { name: definition.name, description, input_schema: omitProperties(schema(), hiddenArguments) };
    last = { spec: definition.result === 'once' ? { ...spec, result: definition.result } : spec, hidden };
    return last.spec;
  };
}

function renderDescription({ prompt, forms }: ToolDefinitionBase<JsonObject>): string {
  const description = typeof prompt === 'string' ? prompt : prompt();
  return forms?.example === undefined ? description : `${description}\n${forms.example}`;
}

/** Normalizes the arguments of a tool with forms; an optional text that is empty counts as omitted. */
function normalizeInput(
  input: JsonObject,
  { forms }: Pick<ToolDefinitionBase<JsonObject>, 'forms'>,
  schema: JsonObject,
): NormalizedArguments {
  if (forms === undefined) return { ok: true, input, notes: [] };
  const normalized = normalizeArguments(input, forms);
  if (!normalized.ok) return normalized;
  const required: readonly JsonValue[] = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(normalized.input).filter(([key, value]) => value !== '' || required.includes(key));
  return { ...normalized, input: Object.fromEntries(entries) };
}

/** Adds notes about the input to the text for the model. */
function addNotes(outcome: ToolOutcome, notes: readonly string[]): ToolOutcome {
  if (notes.length === 0) return outcome;
  const note = `[${notes.join(' ')}]`;
  if (typeof outcome.content !== 'string')
    return { ...outcome, content: [...outcome.content, { type: 'text', text: note }] };
  return { ...outcome, content: `${outcome.content}\n${note}` };
}

/** Returns an object schema without some properties. */
function omitProperties(schema: JsonObject, omitted: readonly string[]): JsonObject {
  if (omitted.length === 0 || !isJsonObject(schema.properties)) return schema;
  const kept = Object.entries(schema.properties).filter(([key]) => !omitted.includes(key));
  return { ...schema, properties: Object.fromEntries(kept) };
}

type ResolvedInput = { readonly schema: () => JsonObject; readonly check: z.ZodType<JsonObject> };

/** Returns the JSON schema of the input for the model, and the zod schema that validates it. */
function resolveInput({ name, input }: AnyDefinition): ResolvedInput {
  if (isZodSchema(input)) return { schema: () => toJsonSchema(input), check: input };
  const { type = 'object', ...rest } = input;
  if (type !== 'object') throw new Error(`The input of ${name} must be an object: its schema says ${String(type)}.`);
  const schema = { type, ...rest };
  const check = createSchemaValidator(schema, `The input schema of ${name}`);
  return { schema: () => schema, check: check.pipe(z.record(z.string(), z.json())) };
}

/** Tests for a method: another copy of zod has other classes. */
function isZodSchema(input: z.ZodType<JsonObject> | JsonObject): input is z.ZodType<JsonObject> {
  return typeof input.safeParse === 'function';
}

/** JSON schemas by zod schema, computed once for all conversations and sub-agents. */
const toJsonSchema = memoizeByObject((schema: z.ZodType): JsonObject => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return copyAsJson(rest, omitImplied);
});

/** Leaves out the keywords that say what a model does anyway; each one would be sent with every request. */
function omitImplied(key: string, value: unknown): unknown {
  const isImplied =
    (key === 'additionalProperties' && value === false) ||
    (key === 'minLength' && value === 1) ||
    (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
    (key === 'minimum' && (value === Number.MIN_SAFE_INTEGER || value === 0 || value === 1)) ||
    (key === 'exclusiveMinimum' && value === 0);
  return isImplied ? undefined : value;
}

function describeKind(input: JsonValue): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'a list' : `a ${typeof input}`;
}

/** Creates a validator from a JSON schema; throws if the schema is not supported. `subject` names it in the message. */
export function createSchemaValidator(schema: JsonObject, subject: string): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch (cause) {
    throw new Error(`${subject} cannot be checked: ${getErrorPhrase(cause)}. Write it more simply.`, { cause });
  }
}
