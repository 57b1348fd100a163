import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfiguredServer, Launch } from '../../src/mcp/config/configured-server.ts';
import { launchHash } from '../../src/mcp/config/configured-server.ts';
import { createMcpHub } from '../../src/mcp/hub.ts';
import type { McpChange, McpParts } from '../../src/mcp/server/mcp-parts.ts';

const { resolve } = createRequire(import.meta.url);
export const EVERYTHING = resolve('@modelcontextprotocol/server-everything/dist/index.js');
export const FILESYSTEM = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

/** The small server of our own, where a real one is not the subject. */
export const STUB = {
  command: process.execPath,
  args: [new URL('../support/mcp-stub.mjs', import.meta.url).pathname],
};

/** A real server on pipes, on the runtime we have: it starts in half the time node takes. */
export function stdio(name: string, file: string, ...args: readonly string[]): ConfiguredServer {
  return configured(name, { kind: 'stdio', command: process.execPath, args: [file, ...args], env: {} });
}

export function stub(name: string): ConfiguredServer {
  return configured(name, { kind: 'stdio', ...STUB, env: {} });
}

export function configured(name: string, launch: Launch): ConfiguredServer {
  return { name, scope: 'user', launch, hash: launchHash(launch) };
}

/** A hub of these servers, started, with what it told about them. */
export function startHub(servers: readonly ConfiguredServer[], parts: Partial<McpParts> = {}) {
  const changes: McpChange[] = [];
  const hub = createMcpHub({
    servers,
    hosted: [],
    cwd: tmpdir(),
    roots: () => [tmpdir()],
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

export const inTime = () => AbortSignal.timeout(10_000);

/** server-everything behind HTTP, on a free port. */
export async function startRemote(transport: 'streamableHttp' | 'sse') {
  const { child, port } = await listening(transport);
  return {
    url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** It cannot be told to choose a port, so somebody may take the one that was free before it does. */
async function listening(transport: string): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  for (;;) {
    const port = await freePort();
    const child: ChildProcess = spawn(process.execPath, [EVERYTHING, transport], {
      env: { PATH: process.env.PATH ?? '', PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const gone = once(child, 'exit').then(() => ['Failed to start']);
    child.stderr?.setEncoding('utf8');
    let said = '';
    while (!/(?:running|listening) on port|Failed to start|EADDRINUSE/.test(said)) {
      said += String((await Promise.race([once(child.stderr ?? child, 'data'), gone]))[0]);
    }
    if (/ on port /.test(said)) return { child, port };
    child.kill('SIGKILL');
    await gone;
  }
}
