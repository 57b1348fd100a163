import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { McpServerState } from '../contracts/frontend/host-capabilities.ts';
import type { LoadedSettings } from '../contracts/settings.ts';
import { loadExtensions } from '../extensions/load-extensions.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { RUN_MARKER } from '../lib/processes/process-tree.ts';
import { openMcpCredentialStore } from '../mcp/auth/mcp-credentials.ts';
import { loginToMcpServer } from '../mcp/auth/mcp-login.ts';
import { loadMcpConfig, openMcpServerApprovals } from '../mcp/config/load-config.ts';
import {
  type ClaudeDesktopServers,
  type McpConfigScope,
  openMcpServerFiles,
  readClaudeDesktopServers,
} from '../mcp/config/mcp-server-files.ts';
import { parseMcpServerEntry } from '../mcp/config/parse-mcp-server-entry.ts';
import {
  type ConfiguredMcpServer,
  describeMcpLaunchDetails,
  describeMcpServerLaunch,
  hashMcpServerLaunch,
} from '../mcp/configured-mcp-server.ts';
import { createMcpHub } from '../mcp/hub.ts';
import { createPermissionPolicySource } from '../permissions/permission-policy-source.ts';
import { listDeniedPaths } from '../sandbox/create-plan.ts';
import { createLazyNetwork } from '../sandbox/network/lazy-network.ts';
import { createSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import { openRunCleanupLog } from '../session/run-cleanup-log.ts';
import { loadEnabledPlugins } from '../settings/load-enabled-plugins.ts';
import { openTrustStore } from '../settings/trust-store.ts';
import { listSettingsFolders, readSettings } from './read-settings.ts';
import { loadFolderTrust } from './trust/folder-trust.ts';
import { createProgramGuard } from './trust/program-guard.ts';

export { describeMcpServerLaunch as describeServerLaunch };

/** The result of a change of the MCP configuration, with a sentence for the user. */
export type McpConfigChangeResult = { readonly ok: boolean; readonly message: string };

type ConfigList = { readonly servers: readonly ConfiguredMcpServer[]; readonly problems: readonly string[] };

/** Creates the actions of `ouro mcp` for one folder. */
export function createMcpConfigActions(environment: Environment, cwd: string) {
  const { ouroHome } = environment;
  const files = openMcpServerFiles(ouroHome, cwd);
  const approvals = openMcpServerApprovals(ouroHome, cwd);
  /** Lists the servers a session in this folder would use. */
  const listServers = () => listConfigured(environment, cwd);

  async function findServer(name: string): Promise<ConfiguredMcpServer | undefined> {
    return (await listServers()).servers.find((server) => server.name === name);
  }

  async function findRemoteLaunch(name: string) {
    const launch = (await findServer(name))?.launch;
    return launch?.kind === 'http' || launch?.kind === 'sse' ? launch : undefined;
  }

  return {
    listServers,
    findServer,
    /** Reads the servers configured in Claude Desktop. */
    readDesktopServers: (): Promise<ClaudeDesktopServers> =>
      readClaudeDesktopServers(environment.home, process.platform),
    /** Starts the servers that may run, returns their states and ends them again. */
    probeServers: (list: readonly ConfiguredMcpServer[]): Promise<readonly McpServerState[]> =>
      probeServers(list, environment, cwd),

    async add(name: string, entry: object, scope: McpConfigScope): Promise<McpConfigChangeResult> {
      const parsed = parseMcpServerEntry(entry);
      if (!parsed.ok) return { ok: false, message: `The entry is invalid: ${parsed.problem}.` };
      const replaces = (await files.listNames(scope)).includes(name);
      const written = await files.write(scope, name, entry);
      if (!written.ok) return { ok: false, message: written.problem };
      // Adding a server approves it.
      const approval = { hash: hashMcpServerLaunch(parsed.launch), verdict: 'approved' } as const;
      const notice = scope === 'user' ? undefined : await approvals.save(name, approval);
      const label = `${name} (${describeMcpServerLaunch(parsed.launch)})`;
      const message = replaces ? `Replaced ${label} in ${written.file}.` : `Added ${label} to ${written.file}.`;
      return { ok: true, message: appendNotice(message, notice) };
    },

    async remove(name: string): Promise<McpConfigChangeResult> {
      const scopes = await files.findScopes(name);
      // Of several entries the one in effect is removed.
      const activeScope = scopes.length > 1 ? (await findServer(name))?.scope : undefined;
      const scope = scopes.find((candidate) => candidate === activeScope) ?? scopes[0];
      if (scope === undefined) return { ok: false, message: `No MCP server ${name} is configured here.` };
      const written = await files.write(scope, name, undefined);
      return written.ok
        ? { ok: true, message: `Removed ${name} from ${written.file}.` }
        : { ok: false, message: written.problem };
    },

    /** Approves or rejects a server of the project. */
    async setApproval(name: string, verdict: 'approved' | 'rejected'): Promise<McpConfigChangeResult> {
      const server = await findServer(name);
      if (server?.scope !== 'project' && server?.scope !== 'local') {
        return { ok: false, message: `This folder configures no MCP server ${name} that needs approval.` };
      }
      const notice = await approvals.save(name, { hash: server.hash, verdict });
      return {
        ok: true,
        message: appendNotice(`${name} is ${verdict}: ${describeMcpLaunchDetails(server.launch)}`, notice),
      };
    },

    async login(name: string, openPage: (address: URL) => void, signal: AbortSignal): Promise<McpConfigChangeResult> {
      const launch = await findRemoteLaunch(name);
      if (launch === undefined) return { ok: false, message: `There is no remote MCP server ${name} to log in to.` };
      try {
        await loginToMcpServer({ url: launch.url, oauth: launch.oauth, ouroHome, openPage, signal });
      } catch (thrown) {
        return { ok: false, message: getErrorMessage(thrown) };
      }
      return { ok: true, message: `Logged in to ${name}.` };
    },

    async logout(name: string): Promise<McpConfigChangeResult> {
      const isRemoved = await openMcpCredentialStore(ouroHome).remove((await findRemoteLaunch(name))?.url ?? '');
      return { ok: isRemoved, message: isRemoved ? `Logged out of ${name}.` : `There is no stored login for ${name}.` };
    },
  };
}

function appendNotice(message: string, notice: string | undefined): string {
  return notice === undefined ? message : `${message} ${notice}`;
}

/** Lists the configured servers as a session in this folder would see them. */
async function listConfigured(environment: Environment, cwd: string): Promise<ConfigList> {
  const trusted = (await openTrustStore(environment.ouroHome, environment.home)).isTrusted(cwd);
  const loaded = await readSettings({ cwd }, environment, trusted, () => true);
  const options = { mcpConfig: [], mcpSources: 'all' } as const;
  const folders = listSettingsFolders(cwd, environment.home);
  const { plugins } = await loadEnabledPlugins(environment, loaded.merged, []);
  const extensions = await loadExtensions({
    projectFolders: trusted ? folders : [],
    userFolders: environment,
    plugins,
    agentsFlag: undefined,
    // Every file is admitted because only the servers of the result are used.
    checkFile: (path) => ({ ok: true, realPath: path }),
  });
  const config = await loadMcpConfig({
    options,
    environment,
    cwd,
    trusted,
    loaded,
    folders,
    extensions: { current: () => extensions },
  });
  const problems = config.problems.map(({ file, text }) => `${file}: ${text}`);
  if (trusted) return { servers: config.servers, problems };
  const { listNames } = openMcpServerFiles(environment.ouroHome, cwd);
  const hidden = (await Promise.all([listNames('project'), listNames('local')])).flat();
  const notice = `Servers ignored because this folder is not trusted: ${hidden.join(', ')}. Run "ouro trust" to trust it.`;
  return { servers: config.servers, problems: hidden.length === 0 ? problems : [...problems, notice] };
}

async function probeServers(servers: readonly ConfiguredMcpServer[], environment: Environment, cwd: string) {
  const runLedger = openRunCleanupLog(environment.ouroHome, crypto.randomUUID());
  const { isTrusted: trusted, programs, isApproved } = await loadFolderTrust(cwd, environment, undefined);
  const loaded = await readSettings({ cwd }, environment, trusted, isApproved);
  const sandbox = createSandboxOfFolder(environment, { cwd, trusted, loaded });
  const guard = createProgramGuard({ cwd, trusted, programs, environment, sandbox, getRoots: () => [cwd] });
  const hub = createMcpHub({
    checkProgram: guard.check,
    servers,
    hostServers: [],
    cwd,
    getRoots: () => [cwd],
    variables: { ...environment.variables, [RUN_MARKER]: runLedger.marker },
    ledger: { started: runLedger.recordStart, ended: runLedger.recordEnd },
    ouroHome: environment.ouroHome,
    version: environment.version,
    getLimits: () => ({ startMs: environment.limits.mcpTimeoutMs ?? 10_000 }),
    onChange: () => undefined,
    newMarker: () => crypto.randomUUID(),
  });
  hub.start();
  await hub.whenSettled();
  const states = hub.listStates();
  await hub.close();
  runLedger.close();
  sandbox.close();
  return states;
}

/** Creates the sandbox that servers of the workspace would have in a session. */
function createSandboxOfFolder(
  environment: Environment,
  { cwd, trusted, loaded }: { readonly cwd: string; readonly trusted: boolean; readonly loaded: LoadedSettings },
): Sandbox {
  const { getUnsandboxedPolicy, getRoots } = createPermissionPolicySource({
    ...{ environment, cwd, trusted, canBypass: false, options: { addDirs: [] } },
    getLoadedSettings: () => loaded,
    getLive: () => ({ mode: 'default', grants: [], directories: [] }),
  });
  return createSandbox({
    ...{ environment, cwd, getRoots, now: Date.now, takeOpenedPaths: () => [] },
    getSettings: () => loaded.merged,
    sessionFolder: join(environment.ouroHome, 'no-session'),
    network: createLazyNetwork(() => Promise.reject(new Error('commands do not run here'))),
    getDeniedPaths: (use) => listDeniedPaths(getUnsandboxedPolicy(cwd), use),
  });
}
