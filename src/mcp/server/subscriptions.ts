import type { Client } from '@modelcontextprotocol/sdk/client/index.js';

const MOST = 100;
const PATIENCE_MS = 10_000;

/** The resources of one server whose changes we want to hear of: those that were read. */
export function createSubscriptions(client: Client) {
  const followed = new Set<string>();
  return {
    follow(uri: string): void {
      const isOffered = client.getServerCapabilities()?.resources?.subscribe === true;
      if (!isOffered || followed.has(uri) || followed.size >= MOST) return;
      followed.add(uri);
      // A server that refuses has nothing to tell of this one.
      void client.subscribeResource({ uri }, { timeout: PATIENCE_MS }).catch(() => undefined);
    },
    follows: (uri: string): boolean => followed.has(uri),
  };
}
