import type { Environment } from '../../contracts/environment.ts';
import type { AgentKind, Plugin, PluginVariables } from '../../contracts/extension.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import { isJsonObject, type JsonValue } from '../../contracts/json.ts';
import type { LoadedSettings, SettingsLayer } from '../../contracts/settings.ts';
import { readGiven } from '../../lib/files/read-regular.ts';
import { openApprovals } from '../../mcp/config/approvals.ts';
import { type Entries, type McpConfig, readMcpConfig } from '../../mcp/config/config.ts';
import { openCredentials } from '../../mcp/login/credentials.ts';
import { childVariables } from '../../settings/child-variables.ts';
import { countsSource } from '../../settings/counts-source.ts';
import { usablePart } from '../../settings/usable.ts';
import type { ExtensionsNow } from '../core.ts';
import { projectFolders } from '../settings/project-folders.ts';

type McpReading = {
  readonly options: Pick<RunOptions, 'mcpConfig' | 'mcpSources' | 'settingSources' | 'agent'>;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trusted: boolean;
  readonly loaded: LoadedSettings;
  /** With the plugins and sub-agents that bring servers. */
  readonly extensions: Pick<ExtensionsNow, 'now'>;
};

/** The MCP servers that are configured here, from the real disk. */
export async function readMcp({
  options,
  environment,
  cwd,
  trusted,
  loaded,
  extensions,
}: McpReading): Promise<McpConfig> {
  const { merged, layers } = loaded;
  const [{ approvals, problem }, damagedLogins] = await Promise.all([
    openApprovals(environment.ouroHome, cwd).read(),
    openCredentials(environment.ouroHome).problem(),
  ]);
  const config = await readMcpConfig({
    cwd,
    folders: projectFolders(cwd, environment.home),
    trusted,
    layers: [...layers, ...extensions.now().plugins.map(serverLayer)],
    ofAgents: extensions.now().agents.flatMap((kind) => agentServers(kind, options)),
    flags: options.mcpConfig,
    sources: options.mcpSources,
    projectFile: countsSource(options.settingSources, 'project') ? 'read' : 'left out',
    approvals,
    disabled: merged.disabledMcpjsonServers ?? [],
    // A project cannot approve its own servers.
    enabled: layers
      .filter(({ source }) => source === 'managed' || source === 'flag' || source === 'user')
      .flatMap(({ settings }) => settings.enabledMcpjsonServers ?? []),
    variables: childVariables(environment, merged),
    readText: readGiven,
  });
  const problems = [
    { file: 'Approvals', text: problem },
    { file: 'Logins', text: damagedLogins },
  ].flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]));
  return { ...config, problems: [...problems, ...config.problems] };
}

/** The servers in the head of a sub-agent, as strong as the place it comes from. */
function agentServers(
  { name, path, source, ownServers }: AgentKind,
  { agent }: Pick<RunOptions, 'agent'>,
): readonly (Entries & { readonly isLent: boolean })[] {
  if (ownServers === undefined) return [];
  const scope = source === 'project' || source === 'user' ? source : 'flag';
  // Whoever is talked to as one has them all along.
  return [{ scope, file: path ?? `sub-agent ${name}`, servers: ownServers, isLent: name !== agent }];
}

/** The servers of a plugin, under names that tell whose they are. */
function serverLayer({ name, root, variables, mcpServers }: Plugin): SettingsLayer {
  const named = Object.entries(mcpServers).map(([server, launch]) => [
    `plugin_${name}_${server}`,
    placed(launch, variables),
  ]);
  const settings = usablePart({ mcpServers: Object.fromEntries(named) }).settings;
  return { source: 'user', file: root, settings, lineOf: () => undefined };
}

/** A program finds its plugin as the plugin's hooks do. */
function placed(launch: JsonValue | undefined, variables: PluginVariables): JsonValue {
  if (!isJsonObject(launch) || launch.command === undefined) return launch ?? null;
  return { ...launch, env: { ...variables, ...(isJsonObject(launch.env) ? launch.env : {}) } };
}
