import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createByteReader } from './byte-reader.ts';
import { formatNetworkDestination, type NetworkDestination } from './host-pattern.ts';
import type { NetworkBridge } from './network-bridge.ts';
import { connectOutbound, type OutboundConnectionSettings } from './outbound.ts';
import { type ProxyConnectResult, serveProxyConnection } from './proxy.ts';

/** A command that runs in the sandbox. */
export type SandboxedCommand = {
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  /** Aborted when the command has ended. */
  readonly signal: AbortSignal;
};

/** The decision whether a command may connect to a host. */
export type HostAccessDecision = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** A blocked connection: the command, the host and the reason. */
export type BlockedConnection = {
  readonly callId: string;
  readonly command: string;
  readonly host: string;
  readonly why: string;
};

/** Network access of sandboxed commands through a proxy that checks every host. */
export type SandboxNetwork = {
  /** Registers a command; returns the arguments that go before it and its proxy variables. */
  register(
    caller: Omit<SandboxedCommand, 'signal'>,
  ): Promise<{ readonly entryArgs: readonly string[]; readonly variables: Readonly<Record<string, string>> }>;
  /** Unregisters a command that has ended, background processes included. */
  unregister(callId: string): void;
  /** Returns the last blocked connections, the oldest first. */
  listBlocked(): readonly BlockedConnection[];
  close(): void;
};

/** The dependencies of a sandbox network. */
export type SandboxNetworkDeps = {
  /** Decides whether a command may connect to a host; called for each connection. */
  readonly decideHost: (caller: SandboxedCommand, destination: NetworkDestination) => Promise<HostAccessDecision>;
  readonly getOutboundSettings: () => OutboundConnectionSettings;
  /** Creates a network namespace with a bridge to this socket; absent where sandboxes share the host network. */
  readonly createBridge?: (socket: string, port: number) => Promise<NetworkBridge>;
  /** Present value of JAVA_TOOL_OPTIONS. */
  readonly javaOptions: string | undefined;
};

/** Port of the proxy inside the sandbox network; below the ephemeral port range. */
const PROXY_PORT = 19_128;
const MAX_REFUSALS = 50;

type Registration = { readonly caller: SandboxedCommand; readonly end: AbortController; readonly key: string };

/** Creates the network of the sandboxes of one session: ouro decides about every host and makes every connection. */
export function createSandboxNetwork({
  decideHost,
  getOutboundSettings,
  createBridge,
  javaOptions,
}: SandboxNetworkDeps): SandboxNetwork {
  /** Commands by the local address or the proxy password their connections use. */
  const registrations = new Map<string, Registration>();
  let refused: readonly BlockedConnection[] = [];
  let count = 0;
  let started: Promise<ProxyServer> | undefined;

  async function connect(
    caller: SandboxedCommand | undefined,
    destination: NetworkDestination,
  ): Promise<ProxyConnectResult> {
    if (caller === undefined)
      return { ok: false, kind: 'unknown', problem: 'The proxy cannot tell which command this is.' };
    const answer = await decideHost(caller, destination);
    const passage: ProxyConnectResult = answer.ok
      ? await connectOutbound(destination, getOutboundSettings())
      : { ...answer, kind: 'refused' };
    if (passage.ok || passage.kind !== 'refused') return passage;
    const refusal = {
      callId: caller.id,
      command: caller.command,
      host: formatNetworkDestination(destination),
      why: passage.problem,
    };
    const others = refused.filter(({ callId, host }) => callId !== refusal.callId || host !== refusal.host);
    refused = [...others, refusal].slice(-MAX_REFUSALS);
    return { ...passage, problem: `The sandbox blocks the connection to ${refusal.host}: ${passage.problem}.` };
  }

  async function serve(socket: Socket): Promise<void> {
    const bytes = createByteReader(socket);
    if (createBridge === undefined)
      return serveProxyConnection(socket, bytes, (destination, token) =>
        connect(registrations.get(token)?.caller, destination),
      );
    socket.on('error', () => socket.destroy());
    const address = await bytes.takeThrough('\n', 64).catch(() => '');
    return serveProxyConnection(socket, bytes, (destination) =>
      connect(registrations.get(address.trim())?.caller, destination),
    );
  }

  /** Starts the proxy if needed; sequentially, so that commands that start together share one. */
  function ensureStarted(): Promise<ProxyServer> {
    const previous = started;
    started = (async () => {
      const current = await previous?.catch(() => undefined);
      if (current?.isOpen() === true) return current;
      current?.close();
      return startProxy((socket) => void serve(socket), createBridge);
    })();
    return started;
  }

  return {
    async register({ id, command, cwd }) {
      const { networkArgs, getProxyUrl } = await ensureStarted();
      count += 1;
      const key = createBridge === undefined ? randomBytes(16).toString('hex') : createLocalAddress(count);
      const end = new AbortController();
      registrations.set(key, { caller: { id, command, cwd, signal: end.signal }, end, key });
      return { entryArgs: networkArgs, variables: createProxyVariables(getProxyUrl(key), javaOptions) };
    },
    unregister(callId) {
      for (const { caller, end, key } of registrations.values()) {
        if (caller.id !== callId) continue;
        end.abort();
        registrations.delete(key);
      }
    },
    listBlocked: () => refused,
    close() {
      for (const { end } of registrations.values()) end.abort();
      registrations.clear();
      void started?.then(
        (server) => server.close(),
        () => undefined,
      );
      started = undefined;
    },
  };
}

type ProxyServer = {
  readonly networkArgs: readonly string[];
  readonly isOpen: () => boolean;
  /** Returns the proxy URL for the command with this key. */
  readonly getProxyUrl: (key: string) => URL;
  close(): void;
};

async function startProxy(
  onSocket: (socket: Socket) => void,
  bridge: SandboxNetworkDeps['createBridge'],
): Promise<ProxyServer> {
  const server = createServer({ allowHalfOpen: true }, onSocket);
  if (bridge === undefined) {
    const port = await listen(server, { host: '127.0.0.1', port: 0 });
    const getProxyUrl = (key: string) => new URL(`http://ouro:${key}@127.0.0.1:${port}`);
    return { networkArgs: [], isOpen: () => server.listening, getProxyUrl, close: () => void server.close() };
  }
  const folder = mkdtempSync(join(tmpdir(), 'ouro-net-'));
  const path = join(folder, 'door');
  await listen(server, { path });
  const close = () => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const created = await bridge(path, PROXY_PORT);
    return {
      networkArgs: created.entryArgs,
      isOpen: created.isOpen,
      getProxyUrl: (key) => new URL(`http://${key}:${PROXY_PORT}`),
      close: () => {
        created.close();
        close();
      },
    };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

function listen(
  server: Server,
  endpoint: { readonly path: string } | { readonly host: string; readonly port: number },
) {
  return new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(endpoint, () => {
      const address = server.address();
      // The server must not keep the process alive.
      server.unref();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** Creates a loopback address for one command, which identifies its connections whatever protocol they use. */
function createLocalAddress(count: number): string {
  return `127.${1 + ((count >> 16) % 254)}.${(count >> 8) & 255}.${count & 255}`;
}

/** Hosts that bypass the proxy: commands in the sandbox reach each other directly. */
const NO_PROXY = 'localhost,.localhost,127.0.0.1,127.0.0.0/8,::1';

/** Returns the variables that make programs use the proxy, which speaks HTTP and SOCKS 5 on the same port. */
function createProxyVariables(proxyUrl: URL, javaOptions: string | undefined): Readonly<Record<string, string>> {
  const { hostname, port } = proxyUrl;
  const url = proxyUrl.href.replace(/\/$/, '');
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'GRPC_PROXY'];
  const proxyOptions = ['http', 'https'].map((kind) => `-D${kind}.proxyHost=${hostname} -D${kind}.proxyPort=${port}`);
  return {
    ...Object.fromEntries(names.flatMap((name) => [name, name.toLowerCase()].map((key) => [key, url]))),
    ...{ NO_PROXY, no_proxy: NO_PROXY, NODE_USE_ENV_PROXY: '1', YARN_HTTP_PROXY: url, YARN_HTTPS_PROXY: url },
    JAVA_TOOL_OPTIONS: [
      ...(javaOptions === undefined ? [] : [javaOptions]),
      ...proxyOptions,
      '-Dhttp.nonProxyHosts=localhost|127.*|[::1]',
    ].join(' '),
  };
}
