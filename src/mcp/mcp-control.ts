import type { HostControlPort } from '../contracts/frontend/host-capabilities.ts';
import { copyAsJson } from '../lib/json.ts';
import { parseMcpServerEntry } from './config/parse-mcp-server-entry.ts';
import { hashMcpServerLaunch } from './configured-mcp-server.ts';
import { createHostMcpServerConfig, type McpHub } from './hub.ts';

const READ_TIMEOUT_MS = 60_000;

/** Creates the part of the control port that manages MCP servers. */
export function createMcpControl({
  hub,
}: {
  readonly hub: McpHub;
}): Pick<
  HostControlPort,
  'mcpServers' | 'reconnectMcp' | 'toggleMcp' | 'setMcpServers' | 'readMcpResource' | 'callTool'
> {
  let currentNames: readonly string[] = [];
  return {
    mcpServers: hub.listStates,
    reconnectMcp: hub.reconnect,
    toggleMcp: hub.toggle,
    async setMcpServers(servers, hostServers) {
      const errors: Record<string, string> = {};
      const configured = Object.entries(servers).flatMap(([name, value]) => {
        const entry = parseMcpServerEntry(value);
        if (entry.ok) {
          return [{ name, scope: 'host', launch: entry.launch, hash: hashMcpServerLaunch(entry.launch) } as const];
        }
        errors[name] = entry.problem;
        return [];
      });
      const all = [...configured, ...hostServers.map(createHostMcpServerConfig)];
      const removed = currentNames.filter((name) => !all.some((server) => server.name === name));
      const added = all.map(({ name }) => name).filter((name) => !currentNames.includes(name));
      await Promise.all([...removed.map(hub.removeServer), ...all.map(hub.putServer)]);
      currentNames = all.map(({ name }) => name);
      hub.start();
      return { added, removed, errors };
    },
    readMcpResource: async (server, uri) =>
      (await hub.readResource(server, uri, AbortSignal.timeout(READ_TIMEOUT_MS))).map((content) => copyAsJson(content)),
    async callTool(name, input) {
      await hub.whenSettled();
      const prepared = hub
        .listTools()
        .find((tool) => tool.name === name)
        ?.prepare(input);
      if (prepared === undefined) throw new Error(`No connected MCP server has a tool ${name}.`);
      if (!prepared.ok) throw new Error(prepared.problem);
      const { content } = await prepared.call.call({
        callId: `host-${name}`,
        cwd: '/',
        signal: new AbortController().signal,
        report: () => undefined,
        ask: async () => undefined,
      });
      return typeof content === 'string'
        ? content
        : content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    },
  };
}
