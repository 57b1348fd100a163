import type { Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import type { CallContext, Tool, ToolOutcome } from '../contracts/tool.ts';
import { asJson } from '../lib/as-json.ts';
import { isDeeperThan, MAX_DEPTH } from '../lib/depth.ts';
import { untrustedLine, untrustedText } from '../lib/text/sanitize.ts';
import { fullNames } from './names.ts';

export type ToolsOf = {
  readonly server: string;
  readonly prefix: string;
  readonly call: (tool: string, input: JsonObject, context: CallContext) => Promise<ToolOutcome>;
};

const MAX_RESULT_CHARS = 30_000;
const DESCRIPTION_CHARS = 2_000;
const LABEL_CHARS = 60;
const TITLE_CHARS = 120;
/** The API takes none of these at the top of a schema. */
const NOT_ON_TOP = ['$schema', 'oneOf', 'anyOf', 'allOf'];

/** The tools of one server as ours. What a server says about its tools makes nothing easier to call. */
export function toTools(listed: readonly ServerTool[], parts: ToolsOf): readonly Tool[] {
  const names = fullNames(
    parts.prefix,
    listed.map(({ name }) => name),
  );
  return listed.map((tool, at) => toTool(tool, names[at] ?? '', parts));
}

function toTool(tool: ServerTool, name: string, { server, call }: ToolsOf): Tool {
  const label = untrustedLine(tool.title ?? tool.annotations?.title ?? tool.name, LABEL_CHARS);
  const title = untrustedLine(`${server}: ${label}`, TITLE_CHARS);
  return {
    name,
    aliases: [],
    label: title,
    spec: { name, description: descriptionOf(tool), input_schema: schemaOf(tool) },
    maxResultChars: MAX_RESULT_CHARS,
    deferred: false,
    source: 'mcp',
    prepare(input) {
      if (!isJsonObject(input)) return { ok: false, problem: `${name} takes a JSON object as its input.` };
      const missing = requiredOf(tool).filter((field) => input[field] === undefined);
      if (missing.length > 0) {
        const fields = missing.map((field) => `"${untrustedLine(field, 80)}"`).join(', ');
        return { ok: false, problem: `The input of ${name} lacks ${fields}. Add what is missing and call again.` };
      }
      return {
        ok: true,
        call: {
          input,
          title,
          // What a server says of its tools grants nothing; it only may run beside its like once it is allowed.
          isReadOnly: false,
          isConcurrencySafe: tool.annotations?.readOnlyHint === true,
          call: (context) => call(tool.name, input, context),
        },
      };
    },
  };
}

/** What has to be given. A field that has a value of its own is left to the server, whatever its schema says. */
function requiredOf({ inputSchema }: ServerTool): readonly string[] {
  const properties = inputSchema.properties ?? {};
  const hasDefault = (field: string) => {
    const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
    return property !== undefined && 'default' in property;
  };
  return (inputSchema.required ?? []).filter((field) => !hasDefault(field));
}

function descriptionOf({ name, description }: ServerTool): string {
  const text = untrustedText(description ?? name);
  return text.length > DESCRIPTION_CHARS ? `${text.slice(0, DESCRIPTION_CHARS).toWellFormed()}… (cut)` : text;
}

function schemaOf({ inputSchema }: ServerTool): JsonObject {
  if (isDeeperThan(inputSchema, MAX_DEPTH)) return { type: 'object' };
  const kept = Object.entries(inputSchema).filter(([key]) => !NOT_ON_TOP.includes(key));
  return { ...asJson(Object.fromEntries(kept), worded), type: 'object' };
}

/** Words in a schema are words of the server as well; names and values stay what they are. */
function worded(key: string, value: unknown): unknown {
  return (key === 'description' || key === 'title') && typeof value === 'string' ? untrustedText(value) : value;
}
