import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { writePrivately } from '../../lib/files/private-file.ts';
import { openApprovals } from '../../mcp/config/approvals.ts';
import { PROJECT_FILE } from '../../mcp/config/config.ts';
import { type ConfiguredServer, launchHash, launchWords } from '../../mcp/config/configured-server.ts';
import { readEntry } from '../../mcp/config/read-entry.ts';
import { createMcpHub } from '../../mcp/hub.ts';
import { openCredentials } from '../../mcp/login/credentials.ts';
import { login } from '../../mcp/login/login.ts';
import { openTrust } from '../../settings/trust.ts';
import { readSettings } from '../settings/read-settings.ts';
import { readMcp } from './read-mcp.ts';

export { launchWords };

export const MCP_SCOPES = ['user', 'project', 'local'] as const;
export type McpScope = (typeof MCP_SCOPES)[number];

/** Done, or a sentence that says why not. */
export type Managed = { readonly ok: boolean; readonly words: string };

/** Files that a folder brings. */
const FOLDER_SCOPES = ['project', 'local'] as const;
const holding = z.object({ mcpServers: z.record(z.string(), z.unknown()).catch({}) }).catch({ mcpServers: {} });
const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' } };

/** What `ouro mcp` does for one folder. */
export function manageMcp(environment: Environment, cwd: string) {
  const fileOf = (scope: McpScope) =>
    scope === 'user'
      ? join(environment.ouroHome, 'settings.json')
      : join(cwd, scope === 'project' ? PROJECT_FILE : '.claude/settings.local.json');

  /** All servers that are configured here, as a session in this folder would see them. */
  async function servers(): Promise<{
    readonly servers: readonly ConfiguredServer[];
    readonly problems: readonly string[];
  }> {
    const trusted = (await openTrust(environment.ouroHome, environment.home)).isTrusted(cwd);
    const loaded = await readSettings({ cwd }, environment, trusted, () => true);
    const options = { mcpConfig: [], mcpSources: 'all' } as const;
    const config = await readMcp({ options, environment, cwd, trusted, loaded });
    const problems = config.problems.map(({ file, text }) => `${file}: ${text}`);
    const hidden = trusted ? [] : (await Promise.all(FOLDER_SCOPES.map(namesIn))).flat();
    const words = `Not looked at, because this folder is not trusted: ${hidden.join(', ')}. Run "ouro trust" here first.`;
    return { servers: config.servers, problems: hidden.length === 0 ? problems : [...problems, words] };
  }

  /** The servers that stand in one file, whether they count or not. */
  async function namesIn(scope: McpScope): Promise<readonly string[]> {
    const text = (await ifThere(readFile(fileOf(scope), 'utf8'))) ?? '';
    const { mcpServers } = holding.parse(parse(text, [], { allowTrailingComma: true }) ?? {});
    return Object.keys(mcpServers);
  }

  async function named(name: string): Promise<ConfiguredServer | undefined> {
    return (await servers()).servers.find((server) => server.name === name);
  }

  async function edit(scope: McpScope, name: string, value: object | undefined): Promise<Managed> {
    const file = fileOf(scope);
    const before = (await ifThere(readFile(file, 'utf8'))) ?? '';
    const text = before.trim() === '' ? '{}\n' : before;
    const problems: ParseError[] = [];
    parse(text, problems, { allowTrailingComma: true });
    if (problems.length > 0)
      return { ok: false, words: `${file} is not valid JSON. Mend it first; nothing was changed.` };
    await writePrivately(file, applyEdits(text, modify(text, ['mcpServers', name], value, FORMAT)));
    return { ok: true, words: file };
  }

  return {
    servers,
    named,

    async add(name: string, entry: object, scope: McpScope): Promise<Managed> {
      const read = readEntry(entry);
      if (!read.ok) return { ok: false, words: `That is no server: ${read.problem}.` };
      const replaces = (await namesIn(scope)).includes(name);
      const edited = await edit(scope, name, entry);
      if (!edited.ok) return edited;
      // Whoever adds it has approved it.
      if (scope !== 'user') {
        const approval = { hash: launchHash(read.launch), verdict: 'approved' } as const;
        await openApprovals(environment.ouroHome, cwd).keep(name, approval);
      }
      const what = `${name} (${launchWords(read.launch)})`;
      return {
        ok: true,
        words: replaces ? `Replaced ${what} in ${edited.words}.` : `Added ${what} to ${edited.words}.`,
      };
    },

    async remove(name: string): Promise<Managed> {
      const holds = await Promise.all(
        MCP_SCOPES.map(async (one) => ((await namesIn(one)).includes(name) ? [one] : [])),
      );
      const found = holds.flat();
      // Of several the one that counts.
      const counts = found.length > 1 ? (await named(name))?.scope : undefined;
      const scope = found.find((one) => one === counts) ?? found[0];
      if (scope === undefined) return { ok: false, words: `No MCP server ${name} is configured here.` };
      const edited = await edit(scope, name, undefined);
      return edited.ok ? { ok: true, words: `Removed ${name} from ${edited.words}.` } : edited;
    },

    async judge(name: string, verdict: 'approved' | 'rejected'): Promise<Managed> {
      const server = await named(name);
      if (server?.scope !== 'project' && server?.scope !== 'local') {
        return { ok: false, words: `This folder configures no MCP server ${name} that needs approval.` };
      }
      await openApprovals(environment.ouroHome, cwd).keep(name, { hash: server.hash, verdict });
      return { ok: true, words: `${name} is ${verdict}: ${launchWords(server.launch)}` };
    },

    /** Starts the servers that may run, and tells how each came up; all are ended again. */
    async tryOut(list: readonly ConfiguredServer[]) {
      const hub = createMcpHub({
        servers: list,
        hosted: [],
        cwd,
        roots: () => [cwd],
        variables: environment.variables,
        ouroHome: environment.ouroHome,
        version: environment.version,
        startTimeoutMs: environment.limits.mcpTimeoutMs ?? 10_000,
        onChange: () => undefined,
        newMarker: () => crypto.randomUUID(),
      });
      hub.start();
      await hub.settled();
      const states = hub.states();
      await hub.close();
      return states;
    },

    async login(name: string, visit: (address: URL) => void, signal: AbortSignal): Promise<Managed> {
      const launch = (await named(name))?.launch;
      if (launch?.kind !== 'http' && launch?.kind !== 'sse') {
        return { ok: false, words: `There is no MCP server ${name} with an address to log in at.` };
      }
      await login({ url: launch.url, ouroHome: environment.ouroHome, visit, signal });
      return { ok: true, words: `Logged in to ${name}.` };
    },

    async logout(name: string): Promise<Managed> {
      const launch = (await named(name))?.launch;
      const url = launch?.kind === 'http' || launch?.kind === 'sse' ? launch.url : '';
      const gone = await openCredentials(environment.ouroHome).forget(url);
      return { ok: gone, words: gone ? `Logged out of ${name}.` : `There is no login for ${name}.` };
    },
  };
}
