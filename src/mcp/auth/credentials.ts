import { join } from 'node:path';
import {
  type OAuthClientInformationMixed,
  OAuthClientInformationSchema,
  type OAuthTokens,
  OAuthTokensSchema,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { LOGINS_FILE } from '../configured-server.ts';

/** The login a server asked for: the scope, and the address of its resource metadata. */
export type Challenge = { readonly scope?: string | undefined; readonly resourceMetadata?: string | undefined };

/** The stored result of a login: the registered client and its tokens. */
export type Credentials = {
  readonly client?: OAuthClientInformationMixed | undefined;
  readonly tokens?: OAuthTokens | undefined;
  /** The challenge of the last refused request. */
  readonly challenge?: Challenge | undefined;
};

const schema = z.record(
  z.string(),
  z.object({
    client: OAuthClientInformationSchema.optional(),
    tokens: OAuthTokensSchema.optional(),
    challenge: z.object({ scope: z.string().optional(), resourceMetadata: z.string().optional() }).optional(),
  }),
);

/** Opens the user's logins, stored by address in a private file; a damaged entry means logging in again. */
export function openCredentialStore(ouroHome: string) {
  const store = openJsonStore<Readonly<Record<string, Credentials>>>(join(ouroHome, LOGINS_FILE), {
    empty: {},
    entryDepth: 1,
    parse: (json) => schema.safeParse(json),
  });
  return {
    getProblem: async () => (await store.read()).problem,
    async get(url: string): Promise<Credentials | undefined> {
      const { value } = await store.read();
      return Object.hasOwn(value, url) ? value[url] : undefined;
    },
    async save(url: string, credentials: Credentials): Promise<void> {
      await store.change(() => [{ path: [url], value: credentials }]);
    },
    /** Changes a stored login under the file lock; a removed login stays removed. */
    async update(url: string, change: (current: Credentials) => Credentials): Promise<void> {
      await store.change((logins) => {
        const current = Object.hasOwn(logins, url) ? logins[url] : undefined;
        const next = current === undefined ? undefined : change(current);
        return current === next ? [] : [{ path: [url], value: next }];
      });
    },
    /** Stores the challenge the next login has to answer. */
    async saveChallenge(url: string, challenge: Challenge): Promise<void> {
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
export type CredentialStore = ReturnType<typeof openCredentialStore>;
