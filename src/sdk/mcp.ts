/** `@ouro-cli/agent/mcp`: the tools of MCP servers. */

import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Tool } from '../contracts/tool.ts';
import { createCallbackSchema, parseArgument } from '../lib/parse-argument.ts';
import { startUnchecked } from '../lib/processes/program-check.ts';
import { hashMcpServerLaunch, type McpServerLaunch } from '../mcp/configured-mcp-server.ts';
import { createMcpHub } from '../mcp/hub.ts';
import { getEnvironmentVariables, VERSION } from './runtime.ts';

/** The configuration of one server, as in an `.mcp.json` file. */
export type McpServerEntry =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly type?: 'http' | 'sse';
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** The servers, and the context in which they are started. */
export type McpSettings = {
  readonly servers: Readonly<Record<string, McpServerEntry>>;
  readonly cwd?: string;
  /** Environment of the servers, to which each entry adds its own variables. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Called when a server connects, fails or is restarted. */
  readonly onNotice?: (level: 'info' | 'warn', text: string) => void;
  /** Folder for stored logins; by default `~/.ouro`. */
  readonly home?: string;
};

/** Running servers and their tools. */
export type McpConnection = {
  /** Returns the current tools; servers can change them. */
  tools(): readonly Tool[];
  /** Returns the status of each server. */
  states(): readonly { readonly name: string; readonly status: string }[];
  close(): Promise<void>;
};

const entrySchema = z.custom<McpServerEntry>(
  (entry) =>
    typeof entry === 'object' &&
    entry !== null &&
    (typeof Reflect.get(entry, 'command') === 'string' || typeof Reflect.get(entry, 'url') === 'string'),
  'a server needs a command or a url',
);
const settingsSchema = z.strictObject({
  servers: z.record(z.string(), entrySchema),
  cwd: z.string().optional(),
  variables: z.record(z.string(), z.string()).optional(),
  onNotice: createCallbackSchema<() => unknown>().optional(),
  home: z.string().optional(),
});

/** Starts the servers and waits until each has connected or failed. */
export async function connectMcp(settings: McpSettings): Promise<McpConnection> {
  parseArgument('connectMcp', settings, settingsSchema);
  const { cwd = process.cwd(), variables = getEnvironmentVariables(), onNotice = () => undefined } = settings;
  const hub = createMcpHub({
    servers: Object.entries(settings.servers).map(([name, entry]) => {
      const launch = createLaunch(entry);
      return { name, scope: 'flag', launch, hash: hashMcpServerLaunch(launch) };
    }),
    hostServers: [],
    cwd,
    getRoots: () => [cwd],
    variables,
    ouroHome: settings.home ?? join(homedir(), '.ouro'),
    version: VERSION,
    onChange: (change) => change.kind === 'state' && onNotice(change.level, change.message),
    newMarker: randomUUID,
    checkProgram: startUnchecked,
  });
  hub.start();
  await hub.whenSettled();
  return {
    tools: hub.listTools,
    states: () => hub.listStates().map(({ name, status }) => ({ name, status })),
    close: hub.close,
  };
}

function createLaunch(entry: McpServerEntry): McpServerLaunch {
  if ('url' in entry) return { kind: entry.type ?? 'http', url: entry.url, headers: entry.headers ?? {} };
  return { kind: 'stdio', command: entry.command, args: entry.args ?? [], env: entry.env ?? {} };
}
