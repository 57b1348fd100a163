import type { JsonObject } from '@ouro-cli/ouro/commands';
import { parse as parseJsonc } from 'jsonc-parser';
// A parser of our own would take 300 lines for the part of TOML that these files use; `Bun.TOML` is in one runtime only.
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import type { McpServerFileFormat } from './foreign-locations.ts';

/** A server in the form of ouro's settings, with what of it cannot be imported. */
export type ConvertedMcpServer = {
  readonly name: string;
  readonly entry: JsonObject;
  readonly lost: readonly string[];
};

const texts = z.record(z.string(), z.coerce.string());
const foreignServer = z.looseObject({
  type: z.string().optional().catch(undefined),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  args: z.array(z.coerce.string()).optional(),
  env: texts.optional(),
  environment: texts.optional(),
  url: z.string().optional(),
  httpUrl: z.string().optional(),
  headers: texts.optional(),
  http_headers: texts.optional(),
  env_http_headers: texts.optional(),
  bearer_token_env_var: z.string().optional(),
  enabled: z.boolean().optional(),
  disabled: z.boolean().optional(),
  cwd: z.string().optional(),
  env_vars: z.array(z.union([z.string(), z.looseObject({ name: z.string() })])).optional(),
});
type ForeignServer = z.output<typeof foreignServer>;

const servers = z.record(z.string(), z.unknown()).catch({});
const file = z.looseObject({
  servers: servers.optional(),
  mcpServers: servers.optional(),
  mcp: servers.optional(),
  mcp_servers: servers.optional(),
});

const KEYS = {
  vscode: 'servers',
  claude: 'mcpServers',
  gemini: 'mcpServers',
  opencode: 'mcp',
  codex: 'mcp_servers',
} as const;

/** Converts the MCP servers of a file; throws for a file that cannot be parsed. */
export function convertForeignMcpServers(text: string, format: McpServerFileFormat): readonly ConvertedMcpServer[] {
  const parsed = file.parse(
    format === 'codex' ? parseToml(text) : (parseJsonc(text, [], { allowTrailingComma: true }) ?? {}),
  );
  return Object.entries(parsed[KEYS[format]] ?? {}).flatMap(([name, value]): readonly ConvertedMcpServer[] => {
    const server = foreignServer.safeParse(value);
    if (!server.success) return [];
    const entry = convertServer(server.data, format);
    return entry === undefined ? [] : [{ name, entry, lost: listLost(server.data, entry) }];
  });
}

function convertServer(server: ForeignServer, format: McpServerFileFormat): JsonObject | undefined {
  const { command, args = [], url, httpUrl, headers, type } = server;
  const convert = (text: string) => convertVariables(text);
  const convertAll = (record: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, convert(value)]));
  const disabled = server.disabled === true || server.enabled === false ? { disabled: true } : {};
  const address = httpUrl ?? url;
  if (address !== undefined) {
    const token = server.bearer_token_env_var;
    const fromVariables = Object.entries(server.env_http_headers ?? {}).map(([name, value]) => [name, `\${${value}}`]);
    const sent = {
      ...convertAll({ ...headers, ...server.http_headers }),
      ...Object.fromEntries(fromVariables),
      ...(token === undefined ? {} : { Authorization: `Bearer \${${token}}` }),
    };
    // Gemini CLI means server-sent events by `url`, everybody else streamable HTTP.
    const isSse = type === 'sse' || (format === 'gemini' && httpUrl === undefined && type === undefined);
    return {
      type: isSse ? 'sse' : 'http',
      url: convert(address),
      ...(Object.keys(sent).length === 0 ? {} : { headers: sent }),
      ...disabled,
    };
  }
  const [program, ...more] = [command ?? []].flat();
  if (program === undefined) return undefined;
  const passedOn = (server.env_vars ?? []).map((one) => (typeof one === 'string' ? one : one.name));
  const env = {
    ...Object.fromEntries(passedOn.map((name) => [name, `\${${name}:-}`])),
    ...convertAll({ ...server.env, ...server.environment }),
  };
  return {
    command: convert(program),
    args: [...more, ...args].map(convert),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...disabled,
  };
}

/** Converts references to variables: `${env:NAME}` of VS Code and Cursor, `{env:NAME}` of opencode, `$NAME` of Gemini. */
function convertVariables(text: string): string {
  return text
    .replaceAll(/\$?\{env:(\w+)\}/g, (_, name: string) => `\${${name}}`)
    .replaceAll(/\$\{(?:workspaceFolder|workspaceRoot)\}/g, '.')
    .replaceAll(/^\$(\w+)$/g, (_, name: string) => `\${${name}}`);
}

/** Lists what an entry has beside the fields of ouro, and references that ouro cannot resolve. Values are not shown. */
function listLost(server: ForeignServer, entry: JsonObject): readonly string[] {
  const text = JSON.stringify(entry);
  const inputs = [...new Set([...text.matchAll(/\$\{input:([\w-]+)\}/g)].map(([, name]) => name))];
  const files = /\{file:(?:(?!\{file:)[^}])+\}/.test(text) ? ['a value from a file ({file:…})'] : [];
  const isDefaultFolder = /^(?:\.\/?|\$\{workspace(?:Folder|Root)\})$/.test(server.cwd ?? '.');
  return [
    ...inputs.map((name) => `the value of the input ${name}: set it in the entry`),
    ...files,
    ...Object.keys(server).filter((name) => !CONVERTED_FIELDS.has(name)),
    ...(isDefaultFolder ? [] : ['cwd']),
  ];
}

/** Fields that are converted, or that only describe the server. */
const CONVERTED_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(foreignServer.shape),
  ...['name', 'description', 'gallery', 'version', '$schema'],
]);
