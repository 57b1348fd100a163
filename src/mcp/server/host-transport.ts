import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { HostMcpServer } from '../../contracts/face/host.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { asJson } from '../../lib/as-json.ts';

/** Speaks with a server inside the host, message by message. */
export function hostTransport(server: HostMcpServer): Transport {
  let open = false;
  const hear = (message: JsonObject) => {
    const parsed = JSONRPCMessageSchema.safeParse(message);
    if (open && parsed.success) transport.onmessage?.(parsed.data);
  };
  const transport: Transport = {
    async start() {
      open = true;
      server.onMessage(hear);
    },
    async send(message) {
      const reply = await server.send(asJson(message));
      // A notification may be answered with an empty object; only JSON-RPC counts.
      if (reply !== undefined) hear(reply);
    },
    async close() {
      if (!open) return;
      open = false;
      transport.onclose?.();
    },
  };
  return transport;
}
