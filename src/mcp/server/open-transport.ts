import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { HostMcpServer } from '../../contracts/face/host.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { asJson } from '../../lib/as-json.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import type { StoredAuth } from '../login/stored-auth.ts';
import type { McpParts } from './mcp-parts.ts';
import { serverEnvironment } from './server-environment.ts';
import { type OpenTransport, stdioTransport } from './stdio-transport.ts';

export type TransportParts = Pick<McpParts, 'cwd' | 'variables' | 'added' | 'ledger' | 'newMarker'>;

/** The way to a server. The HTTP transports are loaded when the first server needs one. */
export async function openTransport(
  { launch }: ConfiguredServer,
  parts: TransportParts,
  auth: StoredAuth | undefined,
): Promise<OpenTransport> {
  const describeEnd = () => undefined;
  switch (launch.kind) {
    case 'host':
      return { transport: hostTransport(launch.server), describeEnd };
    case 'stdio':
      return stdioTransport({
        command: launch.command,
        args: launch.args,
        cwd: parts.cwd,
        env: serverEnvironment(parts.variables, { ...parts.added?.(), ...launch.env }),
        marker: parts.newMarker(),
        ledger: parts.ledger,
      });
    case 'sse': {
      const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
      const options = { ...auth, requestInit: { headers: launch.headers } };
      return { transport: new SSEClientTransport(new URL(launch.url), options), describeEnd };
    }
    default: {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
      const transport = new StreamableHTTPClientTransport(new URL(launch.url), {
        ...auth,
        requestInit: { headers: launch.headers },
      });
      return { transport: leaving(transport), describeEnd };
    }
  }
}

/** Speaks with a server inside the host, message by message. */
function hostTransport(server: HostMcpServer): Transport {
  let isOpen = false;
  const hear = (message: JsonObject) => {
    const parsed = JSONRPCMessageSchema.safeParse(message);
    if (isOpen && parsed.success) transport.onmessage?.(parsed.data);
  };
  const transport: Transport = {
    async start() {
      isOpen = true;
      server.onMessage(hear);
    },
    async send(message) {
      const reply = await server.send(asJson(message));
      // A notification may be answered with an empty object; only JSON-RPC counts.
      if (reply !== undefined) hear(reply);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      transport.onclose?.();
    },
  };
  return transport;
}

type Leavable = Transport & { terminateSession(): Promise<void> };

const LEAVE_MS = 500;

/** Says goodbye before it closes, so that the server can forget the session; a server that does not hear is left. */
function leaving(transport: Leavable): Transport {
  const close = transport.close.bind(transport);
  transport.close = async () => {
    if (transport.sessionId !== undefined) {
      const said = transport.terminateSession().catch(() => undefined);
      await Promise.race([said, new Promise((resolve) => setTimeout(resolve, LEAVE_MS))]);
    }
    await close();
  };
  return transport;
}
