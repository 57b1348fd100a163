import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import type { Plugin, PluginVariables, SubAgentDefinition } from '../../contracts/extension.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import { isJsonObject, type JsonValue } from '../../contracts/json.ts';
import type { LoadedSettings, SettingsLayer } from '../../contracts/settings.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { readFileOrPipe } from '../../lib/files/read-regular-file.ts';
import { dropInvalidSettings } from '../../settings/drop-invalid-settings.ts';
import { buildChildVariables } from '../../settings/effective-environment.ts';
import { isSettingsSourceEnabled } from '../../settings/load-settings.ts';
import { MCP_LOGINS_FILE } from '../configured-mcp-server.ts';
import {
  type AgentMcpServerEntries,
  type McpConfig,
  type McpServerApproval,
  resolveMcpConfig,
} from './resolve-config.ts';

type McpConfigDeps = {
  readonly options: Pick<CliRunOptions, 'mcpConfig' | 'mcpSources' | 'settingSources' | 'agent'>;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trusted: boolean;
  readonly loaded: LoadedSettings;
  /** Folders whose `.mcp.json` is read, nearest first. */
  readonly folders: readonly string[];
  /** Plugins and sub-agents, which may configure servers. */
  readonly extensions: { current(): Extensions };
};

/** Loads the MCP servers configured for a folder: settings, `.mcp.json`, plugins, sub-agents and flags. */
export async function loadMcpConfig({
  options,
  environment,
  cwd,
  trusted,
  loaded,
  folders,
  extensions,
}: McpConfigDeps): Promise<McpConfig> {
  const { merged, layers } = loaded;
  const [{ approvals, problem: approvalsProblem }, loginsProblem] = await Promise.all([
    openMcpServerApprovals(environment.ouroHome, cwd).read(),
    findLoginsProblem(environment.ouroHome),
  ]);
  const config = await resolveMcpConfig({
    cwd,
    folders,
    trusted,
    layers: [...layers, ...extensions.current().plugins.map(createPluginLayer)],
    agentServers: extensions.current().agents.flatMap((kind) => listAgentServers(kind, options)),
    flags: options.mcpConfig,
    sources: options.mcpSources,
    projectFile: isSettingsSourceEnabled(options.settingSources, 'project') ? 'read' : 'ignored',
    approvals,
    disabled: merged.disabledMcpjsonServers ?? [],
    // A project cannot approve its own servers.
    enabled: layers
      .filter(({ source }) => source === 'managed' || source === 'flag' || source === 'user')
      .flatMap(({ settings }) => settings.enabledMcpjsonServers ?? []),
    variables: buildChildVariables(environment, merged),
    readText: readFileOrPipe,
  });
  const problems = [
    { file: 'Approvals', text: approvalsProblem },
    { file: 'Logins', text: loginsProblem },
  ].flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]));
  return { ...config, problems: [...problems, ...config.problems] };
}

/** Loads the reader of logins only if there are any: its schemas are those of the MCP SDK. */
async function findLoginsProblem(ouroHome: string): Promise<string | undefined> {
  if (!existsSync(join(ouroHome, MCP_LOGINS_FILE))) return undefined;
  const { openMcpCredentialStore } = await import('../auth/mcp-credentials.ts');
  return openMcpCredentialStore(ouroHome).getProblem();
}

/** Lists the servers in the front matter of a sub-agent, with the scope of the sub-agent's source. */
function listAgentServers(
  { name, path, source, inlineMcpServers }: SubAgentDefinition,
  { agent }: Pick<CliRunOptions, 'agent'>,
): readonly AgentMcpServerEntries[] {
  if (inlineMcpServers === undefined) return [];
  const scope = source === 'project' || source === 'user' ? source : 'flag';
  // For `--agent` the main conversation is that sub-agent, so its servers are not leased.
  return [{ scope, file: path ?? `sub-agent ${name}`, servers: inlineMcpServers, isAgentOnly: name !== agent }];
}

/** Creates a settings layer with a plugin's servers, named `plugin_<plugin>_<server>`. */
function createPluginLayer({ name, root, variables, mcpServers }: Plugin): SettingsLayer {
  const servers = Object.entries(mcpServers).map(([server, launch]) => [
    `plugin_${name}_${server}`,
    addPluginVariables(launch, variables),
  ]);
  const settings = dropInvalidSettings({ mcpServers: Object.fromEntries(servers) }).settings;
  return { source: 'user', file: root, settings, lineOf: () => undefined };
}

/** Adds the plugin's variables to the environment of a command, as for the plugin's hooks. */
function addPluginVariables(launch: JsonValue | undefined, variables: PluginVariables): JsonValue {
  if (!isJsonObject(launch) || launch.command === undefined) return launch ?? null;
  return { ...launch, env: { ...variables.folders, ...(isJsonObject(launch.env) ? launch.env : {}) } };
}

const approval = z.object({ hash: z.string(), verdict: z.enum(['approved', 'rejected']) });
const schema = z.record(z.string(), z.record(z.string(), approval));

/** Opens the user's approvals of the MCP servers of one folder; stored in ouro's home, never in the folder itself. */
export function openMcpServerApprovals(ouroHome: string, realDir: string) {
  const file = join(ouroHome, 'mcp-approvals.json');
  // An unreadable entry approves nothing: the user is asked about that server again.
  const store = openJsonStore(file, { empty: {}, entryDepth: 2, parse: (json) => schema.safeParse(json) });
  return {
    async read(): Promise<{
      readonly approvals: Readonly<Record<string, McpServerApproval>>;
      readonly problem?: string;
    }> {
      const { value, isRefused: _, ...result } = await store.read();
      return { approvals: (Object.hasOwn(value, realDir) ? value[realDir] : undefined) ?? {}, ...result };
    },
    /** Stores a verdict; returns a message when a damaged file was quarantined. */
    save: (name: string, value: McpServerApproval) => store.change(() => [{ path: [realDir, name], value }]),
  };
}
