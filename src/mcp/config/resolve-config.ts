import { isAbsolute, join, resolve } from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import type { SettingsLayer } from '../../contracts/settings.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { hasLookalikeText, isLookalikeWord } from '../../permissions/call-risks.ts';
import {
  type ConfiguredMcpServer,
  describeMcpLaunchDetails,
  expandMcpLaunch,
  hashMcpServerLaunch,
  type McpServerScope,
} from '../configured-mcp-server.ts';
import { parseMcpServerEntry } from './parse-mcp-server-entry.ts';

/** The user's verdict on a server of a project; bound to its hash, so a changed server needs a new approval. */
export type McpServerApproval = { readonly hash: string; readonly verdict: 'approved' | 'rejected' };

/** The sources of the MCP configuration and the settings that decide which of them count. */
export type McpConfigInput = {
  readonly cwd: string;
  /** Folders whose `.mcp.json` is read, nearest first. */
  readonly folders: readonly string[];
  /** Trust in the project folder; without it no project file is read. */
  readonly trusted: boolean;
  readonly layers: readonly SettingsLayer[];
  /** Servers in the front matter of sub-agents; configured servers of the same name win. */
  readonly agentServers?: readonly AgentMcpServerEntries[];
  /** Values of `--mcp-config`: file paths or inline JSON. */
  readonly flags: readonly string[];
  /** Sources to use; `flags-only` is `--strict-mcp-config`. */
  readonly sources: 'all' | 'flags-only';
  /** Handling of `.mcp.json`; ignored when project settings are excluded. */
  readonly projectFile: 'read' | 'ignored';
  readonly approvals: Readonly<Record<string, McpServerApproval>>;
  /** Names of disabled servers. */
  readonly disabled: readonly string[];
  /** Names approved without a hash; never taken from project settings. */
  readonly enabled: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Reads a file; `undefined` when it does not exist. */
  readonly readText: (path: string) => Promise<string | undefined>;
};

/** The servers to use, and a message for each entry that could not be used as written. */
export type McpConfig = {
  readonly servers: readonly ConfiguredMcpServer[];
  readonly problems: readonly { readonly file: string; readonly text: string }[];
};

/** The `mcpServers` object of one source, unparsed. */
export type McpServerEntries = { readonly scope: McpServerScope; readonly file?: string; readonly servers: object };
/** The servers in the front matter of a sub-agent. */
export type AgentMcpServerEntries = McpServerEntries & { readonly isAgentOnly: boolean };

type ConfigProblem = McpConfig['problems'][number];

/** Highest precedence first: of two servers with one name the first is used. */
const PRECEDENCE: readonly McpServerScope[] = ['managed', 'flag', 'local', 'project', 'user', 'host'];
/** Scopes that need the user's approval; a settings.local.json may have come with an archive. */
const NEEDS_APPROVAL: readonly McpServerScope[] = ['project', 'local'];
/** The project file that lists MCP servers. */
export const PROJECT_MCP_FILE = '.mcp.json';

/** Resolves the servers of all sources: parses, expands variables, applies precedence and approvals. */
export async function resolveMcpConfig(input: McpConfigInput): Promise<McpConfig> {
  const problems: ConfigProblem[] = [];
  const usesAllSources = input.sources === 'all';
  const sources = [
    ...(await Promise.all(input.flags.map((flag) => readFlag(flag, input, problems)))),
    ...(usesAllSources ? collectLayerEntries(input) : []),
    ...(usesAllSources && input.trusted && input.projectFile === 'read'
      ? await readProjectEntries(input, problems)
      : []),
  ];
  const servers = new Map<string, ConfiguredMcpServer>();
  const byPrecedence = sources
    .filter((source) => source !== undefined)
    .toSorted((a, b) => PRECEDENCE.indexOf(a.scope) - PRECEDENCE.indexOf(b.scope));
  for (const source of byPrecedence) {
    for (const [name, value] of Object.entries(source.servers)) {
      const server = readServer(name, value, source, input, problems);
      if (server !== undefined && !servers.has(name)) servers.set(name, server);
    }
  }
  for (const source of input.agentServers ?? []) {
    if (!input.trusted && NEEDS_APPROVAL.includes(source.scope)) continue;
    for (const [name, value] of Object.entries(source.servers)) {
      if (servers.has(name)) continue;
      const server = readServer(name, value, source, input, problems);
      if (server !== undefined) servers.set(name, source.isAgentOnly ? { ...server, isAgentOnly: true } : server);
    }
  }
  return { servers: [...servers.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

function readProjectEntries(
  input: McpConfigInput,
  problems: ConfigProblem[],
): Promise<readonly (McpServerEntries | undefined)[]> {
  return Promise.all(
    input.folders.map((folder) => readFile(join(folder, PROJECT_MCP_FILE), 'project', input, problems)),
  );
}

function collectLayerEntries({ layers, trusted }: McpConfigInput): readonly McpServerEntries[] {
  return layers.flatMap(({ source, file, settings }) => {
    const isUsed = trusted || !NEEDS_APPROVAL.includes(source);
    return settings.mcpServers !== undefined && isUsed ? [{ scope: source, file, servers: settings.mcpServers }] : [];
  });
}

async function readFlag(
  flag: string,
  input: McpConfigInput,
  problems: ConfigProblem[],
): Promise<McpServerEntries | undefined> {
  if (flag.trimStart().startsWith('{')) return readJson(flag, 'flag', '--mcp-config', problems);
  const path = isAbsolute(flag) ? flag : resolve(input.cwd, flag);
  const entries = await readFile(path, 'flag', input, problems);
  if (entries === undefined && !problems.some(({ file }) => file === path)) {
    problems.push({ file: path, text: '--mcp-config names this file, but it does not exist.' });
  }
  return entries;
}

async function readFile(
  path: string,
  scope: McpServerScope,
  input: McpConfigInput,
  problems: ConfigProblem[],
): Promise<McpServerEntries | undefined> {
  try {
    const text = await input.readText(path);
    return text === undefined ? undefined : readJson(text, scope, path, problems);
  } catch (thrown) {
    problems.push({ file: path, text: `could not be read: ${getErrorMessage(thrown)}` });
    return undefined;
  }
}

function readJson(
  text: string,
  scope: McpServerScope,
  file: string,
  problems: ConfigProblem[],
): McpServerEntries | undefined {
  try {
    const root = parseJson(text.replace(/^\uFEFF/, ''));
    const servers = typeof root === 'object' && root !== null && 'mcpServers' in root ? root.mcpServers : undefined;
    if (typeof servers === 'object' && servers !== null && !Array.isArray(servers)) return { scope, file, servers };
    problems.push({ file, text: 'has no "mcpServers" object that maps names to servers.' });
  } catch (thrown) {
    const reason = getErrorMessage(thrown).replace(/\.$/, '');
    problems.push({ file, text: `is not valid JSON: ${reason}. Its servers are ignored.` });
  }
  return undefined;
}

/** Parses JSON, then JSON with comments; invalid text throws the error of `JSON.parse`. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    const errors: ParseError[] = [];
    const value: unknown = parse(text, errors, { allowTrailingComma: true });
    if (errors.length > 0) throw thrown;
    return value;
  }
}

function readServer(
  name: string,
  value: unknown,
  source: McpServerEntries,
  input: McpConfigInput,
  problems: ConfigProblem[],
): ConfiguredMcpServer | undefined {
  const { scope } = source;
  const file = source.file ?? '';
  if (isReservedName(name)) {
    problems.push({ file, text: `MCP server "${name}" is ignored: the name could pass for ouro itself. Rename it.` });
    return undefined;
  }
  const entry = parseMcpServerEntry(value);
  if (!entry.ok) {
    problems.push({ file, text: `MCP server "${name}" is ignored: ${entry.problem}.` });
    return undefined;
  }
  for (const warning of entry.warnings) problems.push({ file, text: `MCP server "${name}": ${warning}.` });
  // Hashed before expansion: an approval covers the text of the file, not the current values of variables.
  const hash = hashMcpServerLaunch(entry.launch);
  const expanded = expandMcpLaunch(entry.launch, input.variables);
  const launch = expanded.value;
  const [missing] = expanded.missing;
  const mistake =
    missing === undefined ? findAddressProblem(launch) : `the variable ${missing} is not set and has no default`;
  if (mistake !== undefined) problems.push({ file, text: `MCP server "${name}" is not started: ${mistake}.` });
  const blocked: ConfiguredMcpServer['blocked'] =
    mistake === undefined
      ? entry.isDisabled
        ? { reason: 'rejected', message: 'is disabled in its entry' }
        : findBlock(name, scope, hash, describeMcpLaunchDetails(entry.launch), input)
      : { reason: 'mistake', message: mistake };
  const blockedPart: Pick<ConfiguredMcpServer, 'blocked'> = blocked === undefined ? {} : { blocked: blocked };
  return {
    name,
    scope,
    ...(source.file === undefined ? {} : { file: source.file }),
    launch,
    hash,
    ...(entry.timeoutMs === undefined ? {} : { callTimeoutMs: entry.timeoutMs }),
    ...blockedPart,
  };
}

/** Names in which a server would speak as ouro, its model or the user. */
const RESERVED_NAME =
  /^(?:perm[il]ss[il]ons?|(?:ouro|c[il]aude|anthrop[il]c|system|user|ass[il]stant)(?:code|c[il][il]|off[il]c[il]a[il]|app|secur[il]ty|support|sett[il]ngs|[il]og[il]n)?)$/;
/** Signs that stand for letters: `c1aude`, `systern`. Capital i and small L look alike, so the pattern has both. */
const STAND_INS: readonly (readonly [RegExp, string])[] = [
  [/0/g, 'o'],
  [/[1|!iı]/g, 'l'],
  [/3/g, 'e'],
  [/[4@]/g, 'a'],
  [/[5$]/g, 's'],
  [/7/g, 't'],
  [/rn/g, 'm'],
];
/** Letters such as ᴏ and ɑ. */
const PHONETIC_LETTER = /[\u0250-\u02af\u1d00-\u1dbf]/;

function isReservedName(name: string): boolean {
  const letters = name.normalize('NFKD').toLowerCase();
  const replaced = STAND_INS.reduce((text, [sign, letter]) => text.replaceAll(sign, letter), letters);
  return (
    [letters, replaced].some(
      (text) => RESERVED_NAME.test(text.replaceAll(/[^a-z]/g, '')) || text.split(/[^a-z]+/).includes('ouro'),
    ) ||
    hasLookalikeText(name) ||
    PHONETIC_LETTER.test(name) ||
    name.split(/[^\p{L}]+/u).some(isLookalikeWord)
  );
}

/** Returns a message when the address of a remote server or of its identity provider cannot be used. */
function findAddressProblem(launch: ConfiguredMcpServer['launch']): string | undefined {
  if (launch.kind !== 'http' && launch.kind !== 'sse') return undefined;
  const url = URL.canParse(launch.url) ? new URL(launch.url) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return `"${launch.url}" is not an HTTP address`;
  const provider = launch.oauth?.identityProvider?.tokenEndpoint;
  if (provider === undefined || isConfidential(provider)) return undefined;
  return `"${provider}" is not an HTTPS address, so id tokens are not sent to it`;
}

/** Returns true for HTTPS and for loopback: requests cannot be read on the way. */
function isConfidential(address: string): boolean {
  const { protocol, hostname } = URL.canParse(address) ? new URL(address) : { protocol: '', hostname: '' };
  return protocol === 'https:' || (protocol === 'http:' && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(hostname));
}

/** Returns the reason a server may not start: disabled, rejected, or not yet approved. */
function findBlock(
  name: string,
  scope: McpServerScope,
  hash: string,
  details: string,
  { approvals, disabled, enabled }: McpConfigInput,
): ConfiguredMcpServer['blocked'] {
  if (disabled.includes(name)) return { reason: 'rejected', message: 'is disabled in the settings' };
  if (!NEEDS_APPROVAL.includes(scope) || enabled.includes(name)) return undefined;
  const approval = Object.hasOwn(approvals, name) ? approvals[name] : undefined;
  if (approval?.hash !== hash) {
    const cause = approval === undefined ? 'waits for approval' : 'changed since it was approved';
    return { reason: 'approval', message: `${cause}: ${details}` };
  }
  return approval.verdict === 'approved' ? undefined : { reason: 'rejected', message: 'was rejected' };
}
