import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { HostMcpServer } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { copyAsJson } from '../../lib/json.ts';
import { RUN_PROCESS_MARKER } from '../../lib/processes/process-markers.ts';
import type { StoredMcpAuth } from '../auth/stored-mcp-auth.ts';
import type { ConfiguredMcpServer } from '../configured-mcp-server.ts';
import type { McpHubDeps } from './hub-deps.ts';
import { createStdioTransport, type TransportHandle } from './stdio-transport.ts';

/** Dependencies of a transport. */
type TransportOptions = Pick<McpHubDeps, 'cwd' | 'variables' | 'getExtraVariables' | 'ledger' | 'newMarker'>;

/** Opens the transport to a server; the HTTP transports are loaded when the first server needs one. */
export async function openMcpTransport(
  { launch }: ConfiguredMcpServer,
  options: TransportOptions,
  auth: StoredMcpAuth | undefined,
): Promise<TransportHandle> {
  const describeExit = () => undefined;
  switch (launch.kind) {
    case 'host':
      return { transport: createHostTransport(launch.server), describeExit };
    case 'stdio':
      return createStdioTransport({
        command: launch.command,
        args: launch.args,
        cwd: options.cwd,
        env: buildMcpServerEnvironment(options.variables, { ...options.getExtraVariables?.(), ...launch.env }),
        marker: options.newMarker(),
        ledger: options.ledger,
      });
    case 'sse': {
      const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
      const sseOptions = { ...auth, requestInit: { headers: launch.headers } };
      return { transport: new SSEClientTransport(new URL(launch.url), sseOptions), describeExit };
    }
    default: {
      const [{ StreamableHTTPClientTransport }, { createSessionTransport }] = await Promise.all([
        import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
        import('./http-session.ts'),
      ]);
      const url = new URL(launch.url);
      const httpOptions = { ...auth, requestInit: { headers: launch.headers } };
      return {
        transport: createSessionTransport(() => new StreamableHTTPClientTransport(url, httpOptions)),
        describeExit,
      };
    }
  }
}

/** Creates a transport to a server in the host process. */
function createHostTransport(server: HostMcpServer): Transport {
  let isOpen = false;
  const receive = (message: JsonObject) => {
    const parsed = JSONRPCMessageSchema.safeParse(message);
    if (isOpen && parsed.success) transport.onmessage?.(parsed.data);
  };
  const transport: Transport = {
    async start() {
      isOpen = true;
      server.onMessage(receive);
    },
    async send(message) {
      const reply = await server.send(copyAsJson(message));
      // Some hosts answer a notification with an empty object, which the schema drops.
      if (reply !== undefined) receive(reply);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      transport.onclose?.();
    },
  };
  return transport;
}

/** Variables every server gets; any other variable must be in its entry. */
const INHERITED_NAMES: readonly string[] = [
  // Detached processes of a server are found by it.
  RUN_PROCESS_MARKER,
  // Display, SSH agent, container hosts and account names; none of them is a secret itself.
  'AWS_PROFILE',
  'AWS_REGION',
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'DOCKER_CONTEXT',
  'DOCKER_HOST',
  'KUBECONFIG',
  'SSH_AUTH_SOCK',
  'WAYLAND_DISPLAY',
  'HOME',
  'LANG',
  'LANGUAGE',
  'LOGNAME',
  'NODE_EXTRA_CA_CERTS',
  'PATH',
  'SHELL',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'TERM',
  'TEMP',
  'TMP',
  'TMPDIR',
  'TZ',
  'USER',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  // Windows
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATHEXT',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'USERNAME',
  'USERPROFILE',
];
const INHERITED_PREFIXES = ['LC_', 'XDG_'];

/** Builds the environment of a server: a short list of the user's variables, and those of its entry. */
export function buildMcpServerEnvironment(
  variables: Readonly<Record<string, string>>,
  entryVariables: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(variables).filter(
    ([name]) => INHERITED_NAMES.includes(name) || INHERITED_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return { ...Object.fromEntries(inherited), ...entryVariables };
}
