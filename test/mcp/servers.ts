import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startUnchecked } from '../../src/lib/processes/program-check.ts';
import type { McpChange, McpHubDeps } from '../../src/mcp/client/hub-deps.ts';
import {
  type ConfiguredMcpServer,
  hashMcpServerLaunch,
  type McpServerLaunch,
} from '../../src/mcp/configured-mcp-server.ts';
import { createMcpHub } from '../../src/mcp/hub.ts';
import { SHARED_CACHE } from '../support/environment.ts';

/** The small server of our own, where a real one is not the subject. */
export const STUB = {
  command: process.execPath,
  args: [join(import.meta.dirname, '../support/mcp-stub.mjs')],
};

/** A real server on pipes, on the runtime we have: it starts in half the time node takes. */
export function stdio(name: string, file: string, ...args: readonly string[]): ConfiguredMcpServer {
  return configured(name, { kind: 'stdio', command: process.execPath, args: [file, ...args], env: SHARED_CACHE });
}

export function stub(name: string): ConfiguredMcpServer {
  return configured(name, { kind: 'stdio', ...STUB, env: {} });
}

export function configured(name: string, launch: McpServerLaunch): ConfiguredMcpServer {
  return { name, scope: 'user', launch, hash: hashMcpServerLaunch(launch) };
}

/** A hub of these servers, started, with what it told about them. */
export function startHub(servers: readonly ConfiguredMcpServer[], parts: Partial<McpHubDeps> = {}) {
  const changes: McpChange[] = [];
  const hub = createMcpHub({
    checkProgram: startUnchecked,
    servers,
    hostServers: [],
    cwd: tmpdir(),
    getRoots: () => [tmpdir()],
    variables: { PATH: process.env.PATH ?? '', HOME: tmpdir() },
    ouroHome: join(tmpdir(), 'no-such-home'),
    version: '1.0.0',
    onChange: (change) => void changes.push(change),
    newMarker: randomUUID,
    ...parts,
  });
  hub.start();
  return { hub, changes, [Symbol.asyncDispose]: () => hub.close() };
}

export const inTime = () => AbortSignal.timeout(60_000);
