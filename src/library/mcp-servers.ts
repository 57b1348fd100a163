import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Tool } from '../contracts/tool.ts';
import { type Launch, launchHash } from '../mcp/config/configured-server.ts';
import { createMcpHub } from '../mcp/hub.ts';
import { processVariables } from './surroundings.ts';
import { VERSION } from './version.ts';

/** How one server is reached, in the words of an `.mcp.json`. */
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

/** Which servers, and where they are started. */
export type McpSettings = {
  readonly servers: Readonly<Record<string, McpServerEntry>>;
  readonly cwd?: string;
  /** What they are given of the environment: what programs need to run, and what an entry says. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Told when a server connects, breaks or is started again. */
  readonly tell?: (level: 'info' | 'warn', text: string) => void;
  /** Where logins are kept. */
  readonly home?: string;
};

/** Servers that run, and what they bring. */
export type McpConnection = {
  /** The tools as they are now: servers may change theirs. */
  tools(): readonly Tool[];
  /** How each server is. */
  states(): readonly { readonly name: string; readonly status: string }[];
  close(): Promise<void>;
};

/** Starts the servers and waits until each is there or has failed. */
export async function connectMcp(settings: McpSettings): Promise<McpConnection> {
  const { cwd = process.cwd(), variables = processVariables(), tell = () => undefined } = settings;
  const hub = createMcpHub({
    servers: Object.entries(settings.servers).map(([name, entry]) => {
      const launch = launchOf(entry);
      return { name, scope: 'flag', launch, hash: launchHash(launch) };
    }),
    hosted: [],
    cwd,
    roots: () => [cwd],
    variables,
    ouroHome: settings.home ?? join(homedir(), '.ouro'),
    version: VERSION,
    onChange: (change) => change.kind === 'state' && tell(change.level, change.words),
    newMarker: randomUUID,
  });
  hub.start();
  await hub.settled();
  return {
    tools: hub.tools,
    states: () => hub.states().map(({ name, status }) => ({ name, status })),
    close: hub.close,
  };
}

function launchOf(entry: McpServerEntry): Launch {
  if ('url' in entry) return { kind: entry.type ?? 'http', url: entry.url, headers: entry.headers ?? {} };
  return { kind: 'stdio', command: entry.command, args: entry.args ?? [], env: entry.env ?? {} };
}
