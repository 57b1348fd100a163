import { createHash } from 'node:crypto';
import type { Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import type { CallContext, Tool, ToolOutcome } from '../contracts/tool.ts';
import { copyAsJson, isNestedDeeperThan, MAX_JSON_DEPTH } from '../lib/json.ts';
import { sanitizeUntrusted, sanitizeUntrustedLine } from '../lib/text/sanitize.ts';

/** The server the tools belong to, and the function that calls them. */
export type McpServerToolsOptions = {
  readonly server: string;
  readonly prefix: string;
  readonly callTool: (tool: string, input: JsonObject, context: CallContext) => Promise<ToolOutcome>;
};

const MAX_RESULT_CHARS = 30_000;
const DESCRIPTION_CHARS = 2_000;
const LABEL_CHARS = 60;
const TITLE_CHARS = 120;
/** Keywords the API refuses at the top level of an input schema. */
const FORBIDDEN_TOP_LEVEL_KEYS = ['$schema', 'oneOf', 'anyOf', 'allOf'];

/** Creates ouro's tools for the tools of one server. A server's own annotations never relax permissions. */
export function createMcpServerTools(listed: readonly ServerTool[], options: McpServerToolsOptions): readonly Tool[] {
  const names = assignMcpFullNames(
    options.prefix,
    listed.map(({ name }) => name),
  );
  return listed.map((tool, index) => createTool(tool, names[index] ?? '', options));
}

function createTool(tool: ServerTool, name: string, { server, callTool }: McpServerToolsOptions): Tool {
  const label = sanitizeUntrustedLine(tool.title ?? tool.annotations?.title ?? tool.name, LABEL_CHARS);
  const title = sanitizeUntrustedLine(`${server}: ${label}`, TITLE_CHARS);
  return {
    name,
    aliases: [],
    label: title,
    spec: { name, description: formatDescription(tool), input_schema: convertSchema(tool) },
    maxResultChars: MAX_RESULT_CHARS,
    deferred: false,
    source: 'mcp',
    prepare(input) {
      if (!isJsonObject(input)) return { ok: false, problem: `${name} takes a JSON object as its input.` };
      const missing = listRequiredFields(tool).filter((field) => input[field] === undefined);
      if (missing.length > 0) {
        const fields = missing.map((field) => `"${sanitizeUntrustedLine(field, 80)}"`).join(', ');
        return { ok: false, problem: `The input of ${name} lacks ${fields}. Add what is missing and call again.` };
      }
      return {
        ok: true,
        call: {
          input,
          title,
          // `readOnlyHint` grants nothing; it only lets an allowed call run in parallel with others.
          isReadOnly: false,
          isConcurrencySafe: tool.annotations?.readOnlyHint === true,
          call: (context) => callTool(tool.name, input, context),
        },
      };
    },
  };
}

/** Lists the required fields; one with a default may be omitted even when the schema requires it. */
function listRequiredFields({ inputSchema }: ServerTool): readonly string[] {
  const properties = inputSchema.properties ?? {};
  const hasDefault = (field: string) => {
    const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
    return property !== undefined && 'default' in property;
  };
  return (inputSchema.required ?? []).filter((field) => !hasDefault(field));
}

function formatDescription({ name, description }: ServerTool): string {
  const text = sanitizeUntrusted(description ?? name);
  return text.length > DESCRIPTION_CHARS ? `${text.slice(0, DESCRIPTION_CHARS).toWellFormed()}… (cut)` : text;
}

function convertSchema({ inputSchema }: ServerTool): JsonObject {
  if (isNestedDeeperThan(inputSchema, MAX_JSON_DEPTH)) return { type: 'object' };
  const entries = Object.entries(inputSchema).filter(([key]) => !FORBIDDEN_TOP_LEVEL_KEYS.includes(key));
  return { ...copyAsJson(Object.fromEntries(entries), sanitizeText), type: 'object' };
}

/** Sanitizes the descriptions and titles of a schema; other values are unchanged. */
function sanitizeText(key: string, value: unknown): unknown {
  return (key === 'description' || key === 'title') && typeof value === 'string' ? sanitizeUntrusted(value) : value;
}

/** The API's limit for the name of a tool. */
const MAX_NAME_CHARS = 128;
const MAX_SERVER_CHARS = 48;

/**
 * Creates the allocation of server prefixes. Prefixes are unique, stay the same for a server, and never contain `__`,
 * so a tool of one server cannot take the name of another server's tool.
 */
export function createPrefixAllocator(): (server: string) => string {
  const taken = new Set<string>();
  const known = new Map<string, string>();
  return (server) => {
    const identifier = toIdentifier(server).replaceAll(/_+/g, '_').replaceAll(/^_|_$/g, '').slice(0, MAX_SERVER_CHARS);
    const prefix = known.get(server) ?? claimName(identifier === '' ? 'server' : identifier, taken, '-');
    known.set(server, prefix);
    return prefix;
  };
}

/** Returns the names the model sees for a server's tools or prompts, in the same order and without duplicates. */
export function assignMcpFullNames(prefix: string, names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => claimName(shorten(`mcp__${prefix}__${toIdentifier(name) || 'tool'}`, name), taken, '_'));
}

function toIdentifier(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_');
}

/** Shortens a name to the API's limit; a hash keeps long names with a common start apart. */
function shorten(full: string, original: string): string {
  if (full.length <= MAX_NAME_CHARS - 4) return full;
  const suffix = createHash('sha256').update(original).digest('hex').slice(0, 8);
  return `${full.slice(0, MAX_NAME_CHARS - 4 - suffix.length - 1)}_${suffix}`;
}

/** Takes a free name: the given one, or that with the next free number. */
function claimName(base: string, taken: Set<string>, separator: string): string {
  let name = base;
  for (let next = 2; taken.has(name); next += 1) name = `${base}${separator}${next}`;
  taken.add(name);
  return name;
}
