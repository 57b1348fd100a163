import type { Environment } from '../../contracts/environment.ts';
import { loadExtensions } from '../../extensions/load-extensions.ts';
import { messageOf } from '../../lib/errors.ts';
import { openApprovals } from '../../mcp/config/approvals.ts';
import { type ConfiguredServer, launchDetails, launchHash, launchWords } from '../../mcp/config/configured-server.ts';
import { desktopServers } from '../../mcp/config/desktop-servers.ts';
import { readEntry } from '../../mcp/config/read-entry.ts';
import { type McpScope, openServerFiles } from '../../mcp/config/server-files.ts';
import { createMcpHub } from '../../mcp/hub.ts';
import { openCredentials } from '../../mcp/login/credentials.ts';
import { login } from '../../mcp/login/login.ts';
import { openTrust } from '../../settings/trust.ts';
import { enabledPlugins } from '../settings/enabled-plugins.ts';
import { projectFolders } from '../settings/project-folders.ts';
import { readSettings } from '../settings/read-settings.ts';
import { readMcp } from './read-mcp.ts';

export { launchWords };

/** Done, or a sentence that says why not. */
export type Managed = { readonly ok: boolean; readonly words: string };

type ConfiguredHere = { readonly servers: readonly ConfiguredServer[]; readonly problems: readonly string[] };

/** What `ouro mcp` does for one folder. */
export function manageMcp(environment: Environment, cwd: string) {
  const { ouroHome } = environment;
  const files = openServerFiles(ouroHome, cwd);
  const approvals = openApprovals(ouroHome, cwd);
  const servers = () => configuredHere(environment, cwd);

  async function named(name: string): Promise<ConfiguredServer | undefined> {
    return (await servers()).servers.find((server) => server.name === name);
  }

  async function remote(name: string) {
    const launch = (await named(name))?.launch;
    return launch?.kind === 'http' || launch?.kind === 'sse' ? launch : undefined;
  }

  return {
    servers,
    named,
    /** Those of the desktop program. */
    desktop: () => desktopServers(environment.home, process.platform),
    /** Starts the servers that may run, and tells how each came up; all are ended again. */
    tryOut: (list: readonly ConfiguredServer[]) => tryOut(list, environment, cwd),

    async add(name: string, entry: object, scope: McpScope): Promise<Managed> {
      const read = readEntry(entry);
      if (!read.ok) return { ok: false, words: `That is no server: ${read.problem}.` };
      const replaces = (await files.namesIn(scope)).includes(name);
      const written = await files.write(scope, name, entry);
      if (!written.ok) return written;
      // Whoever adds it has approved it.
      const approval = { hash: launchHash(read.launch), verdict: 'approved' } as const;
      const notice = scope === 'user' ? undefined : await approvals.keep(name, approval);
      const what = `${name} (${launchWords(read.launch)})`;
      const words = replaces ? `Replaced ${what} in ${written.file}.` : `Added ${what} to ${written.file}.`;
      return { ok: true, words: withNotice(words, notice) };
    },

    async remove(name: string): Promise<Managed> {
      const found = await files.scopesOf(name);
      // Of several the one that counts.
      const counts = found.length > 1 ? (await named(name))?.scope : undefined;
      const scope = found.find((one) => one === counts) ?? found[0];
      if (scope === undefined) return { ok: false, words: `No MCP server ${name} is configured here.` };
      const written = await files.write(scope, name, undefined);
      return written.ok ? { ok: true, words: `Removed ${name} from ${written.file}.` } : written;
    },

    async judge(name: string, verdict: 'approved' | 'rejected'): Promise<Managed> {
      const server = await named(name);
      if (server?.scope !== 'project' && server?.scope !== 'local') {
        return { ok: false, words: `This folder configures no MCP server ${name} that needs approval.` };
      }
      const notice = await approvals.keep(name, { hash: server.hash, verdict });
      return { ok: true, words: withNotice(`${name} is ${verdict}: ${launchDetails(server.launch)}`, notice) };
    },

    async login(name: string, visit: (address: URL) => void, signal: AbortSignal): Promise<Managed> {
      const launch = await remote(name);
      if (launch === undefined)
        return { ok: false, words: `There is no MCP server ${name} with an address to log in at.` };
      try {
        await login({ url: launch.url, oauth: launch.oauth, ouroHome, visit, signal });
      } catch (thrown) {
        return { ok: false, words: messageOf(thrown) };
      }
      return { ok: true, words: `Logged in to ${name}.` };
    },

    async logout(name: string): Promise<Managed> {
      const isGone = await openCredentials(ouroHome).forget((await remote(name))?.url ?? '');
      return { ok: isGone, words: isGone ? `Logged out of ${name}.` : `There is no login for ${name}.` };
    },
  };
}

function withNotice(words: string, notice: string | undefined): string {
  return notice === undefined ? words : `${words} ${notice}`;
}

/** All servers that are configured here, as a session in this folder would see them. */
async function configuredHere(environment: Environment, cwd: string): Promise<ConfiguredHere> {
  const trusted = (await openTrust(environment.ouroHome, environment.home)).isTrusted(cwd);
  const loaded = await readSettings({ cwd }, environment, trusted, () => true);
  const options = { mcpConfig: [], mcpSources: 'all' } as const;
  const { plugins } = await enabledPlugins(environment.ouroHome, loaded.merged, []);
  const found = await loadExtensions({
    projectFolders: trusted ? projectFolders(cwd, environment.home) : [],
    own: environment,
    plugins,
    agentsFlag: undefined,
    // Nothing of them but the servers is looked at.
    admits: (path) => ({ ok: true, realPath: path }),
  });
  const config = await readMcp({ options, environment, cwd, trusted, loaded, extensions: { now: () => found } });
  const problems = config.problems.map(({ file, text }) => `${file}: ${text}`);
  if (trusted) return { servers: config.servers, problems };
  const { namesIn } = openServerFiles(environment.ouroHome, cwd);
  const hidden = (await Promise.all([namesIn('project'), namesIn('local')])).flat();
  const words = `Not looked at, because this folder is not trusted: ${hidden.join(', ')}. Run "ouro trust" here first.`;
  return { servers: config.servers, problems: hidden.length === 0 ? problems : [...problems, words] };
}

async function tryOut(servers: readonly ConfiguredServer[], environment: Environment, cwd: string) {
  const hub = createMcpHub({
    servers,
    hosted: [],
    cwd,
    roots: () => [cwd],
    variables: environment.variables,
    ouroHome: environment.ouroHome,
    version: environment.version,
    limits: () => ({ startMs: environment.limits.mcpTimeoutMs ?? 10_000 }),
    onChange: () => undefined,
    newMarker: () => crypto.randomUUID(),
  });
  hub.start();
  await hub.settled();
  const states = hub.states();
  await hub.close();
  return states;
}
