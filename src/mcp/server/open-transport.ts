import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { ConfiguredServer } from '../config/configured-server.ts';
import { hostTransport } from './host-transport.ts';
import type { McpParts } from './mcp-parts.ts';
import { serverEnvironment } from './server-environment.ts';
import { type OpenTransport, stdioTransport } from './stdio-transport.ts';

export type TransportParts = Pick<McpParts, 'cwd' | 'variables' | 'added' | 'ledger' | 'newMarker'>;

/** The way to a server. The HTTP transports are loaded when the first server needs one. */
export async function openTransport(
  { launch }: ConfiguredServer,
  parts: TransportParts,
  authProvider: OAuthClientProvider | undefined,
): Promise<OpenTransport> {
  const describeEnd = () => undefined;
  switch (launch.kind) {
    case 'host':
      return { transport: hostTransport(launch.server), describeEnd };
    case 'stdio':
      return stdioTransport({
        launch,
        cwd: parts.cwd,
        env: serverEnvironment(parts.variables, { ...parts.added?.(), ...launch.env }),
        marker: parts.newMarker(),
        ledger: parts.ledger,
      });
    case 'sse': {
      const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
      const options = { authProvider, requestInit: { headers: launch.headers } };
      return { transport: new SSEClientTransport(new URL(launch.url), options), describeEnd };
    }
    default: {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
      const transport = new StreamableHTTPClientTransport(new URL(launch.url), {
        authProvider,
        requestInit: { headers: launch.headers },
      });
      return { transport: leaving(transport), describeEnd };
    }
  }
}

type Leavable = OpenTransport['transport'] & { terminateSession(): Promise<void> };

const LEAVE_MS = 500;

/** Says goodbye before it closes, so that the server can forget the session; a server that does not hear is left. */
function leaving(transport: Leavable): OpenTransport['transport'] {
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
