import type { Environment } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { LoadedSettings } from '../../contracts/settings.ts';
import { readGiven } from '../../lib/files/read-regular.ts';
import { openApprovals } from '../../mcp/config/approvals.ts';
import { type McpConfig, readMcpConfig } from '../../mcp/config/config.ts';
import { openCredentials } from '../../mcp/login/credentials.ts';
import { childVariables } from '../../settings/child-variables.ts';
import { countsSource } from '../../settings/counts-source.ts';
import { projectFolders } from '../settings/project-folders.ts';

type McpReading = {
  readonly options: Pick<RunOptions, 'mcpConfig' | 'mcpSources' | 'settingSources'>;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trusted: boolean;
  readonly loaded: LoadedSettings;
};

/** The MCP servers that are configured here, from the real disk. */
export async function readMcp({ options, environment, cwd, trusted, loaded }: McpReading): Promise<McpConfig> {
  const { merged, layers } = loaded;
  const [{ approvals, problem }, damagedLogins] = await Promise.all([
    openApprovals(environment.ouroHome, cwd).read(),
    openCredentials(environment.ouroHome).problem(),
  ]);
  const config = await readMcpConfig({
    cwd,
    folders: projectFolders(cwd, environment.home),
    trusted,
    layers,
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
