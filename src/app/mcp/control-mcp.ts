import type { ControlPort } from '../../contracts/face/host.ts';
import { asJson } from '../../lib/as-json.ts';
import { launchHash } from '../../mcp/config/configured-server.ts';
import { readEntry } from '../../mcp/config/read-entry.ts';
import { hosted } from '../../mcp/hub.ts';
import type { McpServers } from './servers.ts';

const READ_MS = 60_000;

/** What hosts may do with MCP servers. */
export function controlMcp({
  hub,
}: McpServers): Pick<
  ControlPort,
  'mcpServers' | 'reconnectMcp' | 'toggleMcp' | 'setMcpServers' | 'readMcpResource' | 'callTool'
> {
  let given: readonly string[] = [];
  return {
    mcpServers: hub.states,
    reconnectMcp: hub.reconnect,
    toggleMcp: hub.toggle,
    async setMcpServers(servers, hostServers) {
      const errors: Record<string, string> = {};
      const wanted = Object.entries(servers).flatMap(([name, value]) => {
        const read = readEntry(value);
        if (read.ok) {
          return [{ name, scope: 'host', launch: read.launch, hash: launchHash(read.launch) } as const];
        }
        errors[name] = read.problem;
        return [];
      });
      const all = [...wanted, ...hostServers.map(hosted)];
      const removed = given.filter((name) => !all.some((server) => server.name === name));
      const added = all.map(({ name }) => name).filter((name) => !given.includes(name));
      await Promise.all([...removed.map(hub.remove), ...all.map(hub.put)]);
      given = all.map(({ name }) => name);
      hub.start();
      return { added, removed, errors };
    },
    readMcpResource: async (server, uri) =>
      (await hub.contents(server, uri, AbortSignal.timeout(READ_MS))).map((one) => asJson(one)),
    async callTool(name, input) {
      await hub.settled();
      const prepared = hub
        .tools()
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
