import { join } from 'node:path';
import { OAuthClientInformationSchema, OAuthTokensSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { MCP_LOGINS_FILE } from '../configured-mcp-server.ts';

/** The login a server asked for: the scope, and the address of its resource metadata. */
export type AuthChallenge = { readonly scope?: string | undefined; readonly resourceMetadata?: string | undefined };

const credentials = z.object({
  client: OAuthClientInformationSchema.optional(),
  tokens: OAuthTokensSchema.optional(),
  /** The challenge of the last refused request. */
  challenge: z.object({ scope: z.string().optional(), resourceMetadata: z.string().optional() }).optional(),
});

/** The stored result of a login: the registered client and its tokens. */
export type McpCredentials = Readonly<z.output<typeof credentials>>;

/** Opens the user's logins, stored by address in a private file; a damaged entry means logging in again. */
export function openMcpCredentialStore(ouroHome: string) {
  const store = openJsonStore<Readonly<Record<string, McpCredentials>>>(join(ouroHome, MCP_LOGINS_FILE), {
    empty: {},
    entryDepth: 1,
    parse: (json) => z.record(z.string(), credentials).safeParse(json),
  });
  return {
    getProblem: async () => (await store.read()).problem,
    async get(url: string): Promise<McpCredentials | undefined> {
      const { value } = await store.read();
      return Object.hasOwn(value, url) ? value[url] : undefined;
    },
    async save(url: string, credentials: McpCredentials): Promise<void> {
      await store.change(() => [{ path: [url], value: credentials }]);
    },
    /** Changes a stored login under the file lock; a removed login stays removed. */
    async update(url: string, change: (current: McpCredentials) => McpCredentials): Promise<void> {
      await store.change((logins) => {
        const current = Object.hasOwn(logins, url) ? logins[url] : undefined;
        const next = current === undefined ? undefined : change(current);
        return current === next ? [] : [{ path: [url], value: next }];
      });
    },
    /** Stores the challenge the next login has to answer. */
    async saveChallenge(url: string, challenge: AuthChallenge): Promise<void> {
      await store.change((logins) => {
        const current = Object.hasOwn(logins, url) ? logins[url] : undefined;
        const isKnown = JSON.stringify(current?.challenge) === JSON.stringify(challenge);
        return isKnown ? [] : [{ path: [url], value: { ...current, challenge } }];
      });
    },
    /** Removes a login; returns false when there is none. */
    async remove(url: string): Promise<boolean> {
      const { value } = await store.read();
      if (!Object.hasOwn(value, url) || value[url]?.tokens === undefined) return false;
      await store.change(() => [{ path: [url], value: undefined }]);
      return true;
    },
  };
}

/** The store of the user's MCP logins. */
export type McpCredentialStore = ReturnType<typeof openMcpCredentialStore>;
