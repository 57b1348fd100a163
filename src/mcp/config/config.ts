import { isAbsolute, join, resolve } from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import type { SettingsLayer } from '../../contracts/settings.ts';
import { messageOf } from '../../lib/errors.ts';
import { type ConfiguredServer, launchDetails, launchHash, type ServerScope } from './configured-server.ts';
import { expandLaunch } from './expand-variables.ts';
import { readEntry } from './read-entry.ts';

/** What the person said about a server of a project: bound to its hash, so that a changed server asks anew. */
export type Approval = { readonly hash: string; readonly verdict: 'approved' | 'rejected' };

export type ConfigParts = {
  readonly cwd: string;
  /** The folders whose file of servers counts, the nearest first. */
  readonly folders: readonly string[];
  /** In a folder that is not trusted nothing of the project is read. */
  readonly trusted: boolean;
  readonly layers: readonly SettingsLayer[];
  /** Servers in the heads of sub-agents; those that are configured go before them. */
  readonly ofAgents?: readonly (Entries & { readonly isLent: boolean })[];
  /** `--mcp-config`: files, or JSON. */
  readonly flags: readonly string[];
  /** `flags-only` is `--strict-mcp-config`. */
  readonly sources: 'all' | 'flags-only';
  /** Whether the file of the project counts at all. */
  readonly projectFile: 'read' | 'left out';
  readonly approvals: Readonly<Record<string, Approval>>;
  /** Names switched off, or approved whatever they hold; the latter only from flags and managed settings. */
  readonly disabled: readonly string[];
  readonly enabled: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** `undefined` when there is no such file. */
  readonly readText: (path: string) => Promise<string | undefined>;
};

/** The servers to use, and a sentence about everything that could not be used as it stands. */
export type McpConfig = {
  readonly servers: readonly ConfiguredServer[];
  readonly problems: readonly { readonly file: string; readonly text: string }[];
};

export type Entries = { readonly scope: ServerScope; readonly file?: string; readonly servers: object };
type Found = McpConfig['problems'][number];

/** The strongest first: of two servers of one name the stronger is used. */
const STRENGTH: readonly ServerScope[] = ['managed', 'flag', 'local', 'project', 'user', 'host'];
/** What a project may not start unasked; a settings.local.json may have come with an archive. */
const NEEDS_APPROVAL: readonly ServerScope[] = ['project', 'local'];
export const PROJECT_FILE = '.mcp.json';

/** Reads every place that may name servers. */
export async function readMcpConfig(parts: ConfigParts): Promise<McpConfig> {
  const problems: Found[] = [];
  const all = parts.sources === 'all';
  const sources = [
    ...(await Promise.all(parts.flags.map((flag) => readFlag(flag, parts, problems)))),
    ...(all ? layerEntries(parts) : []),
    ...(all && parts.trusted && parts.projectFile === 'read' ? await projectEntries(parts, problems) : []),
  ];
  const servers = new Map<string, ConfiguredServer>();
  const strongestFirst = sources
    .filter((source) => source !== undefined)
    .toSorted((a, b) => STRENGTH.indexOf(a.scope) - STRENGTH.indexOf(b.scope));
  for (const source of strongestFirst) {
    for (const [name, value] of Object.entries(source.servers)) {
      const server = readServer(name, value, source, parts, problems);
      if (server !== undefined && !servers.has(name)) servers.set(name, server);
    }
  }
  for (const source of parts.ofAgents ?? []) {
    if (!parts.trusted && NEEDS_APPROVAL.includes(source.scope)) continue;
    for (const [name, value] of Object.entries(source.servers)) {
      if (servers.has(name)) continue;
      const server = readServer(name, value, source, parts, problems);
      if (server !== undefined) servers.set(name, source.isLent ? { ...server, isLent: true } : server);
    }
  }
  return { servers: [...servers.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

function projectEntries(parts: ConfigParts, problems: Found[]): Promise<readonly (Entries | undefined)[]> {
  return Promise.all(parts.folders.map((folder) => readFile(join(folder, PROJECT_FILE), 'project', parts, problems)));
}

function layerEntries({ layers, trusted }: ConfigParts): readonly Entries[] {
  return layers.flatMap(({ source, file, settings }) => {
    const counts = trusted || !NEEDS_APPROVAL.includes(source);
    return settings.mcpServers !== undefined && counts ? [{ scope: source, file, servers: settings.mcpServers }] : [];
  });
}

async function readFlag(flag: string, parts: ConfigParts, problems: Found[]): Promise<Entries | undefined> {
  if (flag.trimStart().startsWith('{')) return readJson(flag, 'flag', '--mcp-config', problems);
  const path = isAbsolute(flag) ? flag : resolve(parts.cwd, flag);
  const entries = await readFile(path, 'flag', parts, problems);
  if (entries === undefined && !problems.some(({ file }) => file === path)) {
    problems.push({ file: path, text: '--mcp-config names this file, but it is not there.' });
  }
  return entries;
}

async function readFile(
  path: string,
  scope: ServerScope,
  parts: ConfigParts,
  problems: Found[],
): Promise<Entries | undefined> {
  try {
    const text = await parts.readText(path);
    return text === undefined ? undefined : readJson(text, scope, path, problems);
  } catch (thrown) {
    problems.push({ file: path, text: `could not be read: ${messageOf(thrown)}` });
    return undefined;
  }
}

function readJson(text: string, scope: ServerScope, file: string, problems: Found[]): Entries | undefined {
  try {
    const whole = parsed(text.replace(/^\uFEFF/, ''));
    const servers = typeof whole === 'object' && whole !== null && 'mcpServers' in whole ? whole.mcpServers : undefined;
    if (typeof servers === 'object' && servers !== null && !Array.isArray(servers)) return { scope, file, servers };
    problems.push({ file, text: 'has no object "mcpServers" with the servers by name.' });
  } catch (thrown) {
    problems.push({ file, text: `is not JSON: ${messageOf(thrown)}. No server of it is used.` });
  }
  return undefined;
}

/** JSON, with comments where somebody wrote them; what is neither throws as JSON does. */
function parsed(text: string): unknown {
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
  source: Entries,
  parts: ConfigParts,
  problems: Found[],
): ConfiguredServer | undefined {
  const { scope } = source;
  const file = source.file ?? '';
  const read = readEntry(value);
  if (!read.ok) {
    problems.push({ file, text: `the MCP server "${name}" is not used: ${read.problem}.` });
    return undefined;
  }
  for (const warning of read.warnings) problems.push({ file, text: `the MCP server "${name}": ${warning}.` });
  // Before expansion: an approval is about what the file says, whatever a variable holds today.
  const hash = launchHash(read.launch);
  const expanded = expandLaunch(read.launch, parts.variables);
  const launch = expanded.value;
  const [missing] = expanded.missing;
  const mistake =
    missing === undefined ? addressProblem(launch) : `the variable ${missing} is not set and has no default`;
  if (mistake !== undefined) problems.push({ file, text: `the MCP server "${name}" is not started: ${mistake}.` });
  const held =
    mistake === undefined
      ? read.isDisabled
        ? ({ why: 'rejected', words: 'is switched off by its entry' } as const)
        : heldBack(name, scope, hash, launchDetails(read.launch), parts)
      : { why: 'mistake' as const, words: mistake };
  return {
    name,
    scope,
    ...(source.file === undefined ? {} : { file: source.file }),
    launch,
    hash,
    ...(read.timeoutMs === undefined ? {} : { callTimeoutMs: read.timeoutMs }),
    ...(held === undefined ? {} : { held }),
  };
}

function addressProblem(launch: ConfiguredServer['launch']): string | undefined {
  if (launch.kind !== 'http' && launch.kind !== 'sse') return undefined;
  const url = URL.canParse(launch.url) ? new URL(launch.url) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return `"${launch.url}" is no http address`;
  const provider = launch.oauth?.identityProvider?.tokenEndpoint;
  if (provider === undefined || isPrivate(provider)) return undefined;
  return `"${provider}" is no https address, and id tokens go to no other`;
}

/** Nobody on the way reads what is sent there. */
function isPrivate(address: string): boolean {
  const { protocol, hostname } = URL.canParse(address) ? new URL(address) : { protocol: '', hostname: '' };
  return protocol === 'https:' || (protocol === 'http:' && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(hostname));
}

function heldBack(
  name: string,
  scope: ServerScope,
  hash: string,
  what: string,
  { approvals, disabled, enabled }: ConfigParts,
): ConfiguredServer['held'] {
  if (disabled.includes(name)) return { why: 'rejected', words: 'switched off in the settings' };
  if (!NEEDS_APPROVAL.includes(scope) || enabled.includes(name)) return undefined;
  const approval = Object.hasOwn(approvals, name) ? approvals[name] : undefined;
  if (approval?.hash !== hash) {
    const why = approval === undefined ? 'comes from the project' : 'was changed since it was approved';
    return { why: 'approval', words: `${why} and waits for approval: ${what}` };
  }
  return approval.verdict === 'approved' ? undefined : { why: 'rejected', words: 'was rejected' };
}
