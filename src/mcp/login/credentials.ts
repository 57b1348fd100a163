import { join } from 'node:path';
import {
  type OAuthClientInformationMixed,
  OAuthClientInformationSchema,
  type OAuthTokens,
  OAuthTokensSchema,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import { openJsonStore } from '../../lib/files/json-store.ts';

/** What a server said of the login it wants: how far it must reach, and where that is described. */
export type Challenge = { readonly scope?: string | undefined; readonly resourceMetadata?: string | undefined };

/** What a login leaves: who we are to the server, and what it gave us. */
export type Credentials = {
  readonly client?: OAuthClientInformationMixed | undefined;
  readonly tokens?: OAuthTokens | undefined;
  /** What the server wanted when it refused last. */
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

/** The logins of one person, by address, in a file nobody else may read. A damaged entry costs one more login. */
export function openCredentials(ouroHome: string) {
  const store = openJsonStore<Readonly<Record<string, Credentials>>>(join(ouroHome, 'mcp-logins.json'), {
    empty: {},
    entryDepth: 1,
    parse: (json) => schema.safeParse(json),
  });
  return {
    problem: async () => (await store.read()).problem,
    async of(url: string): Promise<Credentials | undefined> {
      const { value } = await store.read();
      return Object.hasOwn(value, url) ? value[url] : undefined;
    },
    async keep(url: string, credentials: Credentials): Promise<void> {
      await store.change(() => [{ path: [url], value: credentials }]);
    },
    /** Changes a login as it stands in the file at that moment; one that is gone stays so. */
    async update(url: string, change: (now: Credentials) => Credentials): Promise<void> {
      await store.change((logins) => {
        const now = Object.hasOwn(logins, url) ? logins[url] : undefined;
        const next = now === undefined ? undefined : change(now);
        return now === next ? [] : [{ path: [url], value: next }];
      });
    },
    /** What a server wants of the next login. */
    async challenged(url: string, challenge: Challenge): Promise<void> {
      await store.change((logins) => {
        const now = Object.hasOwn(logins, url) ? logins[url] : undefined;
        const isKnown = JSON.stringify(now?.challenge) === JSON.stringify(challenge);
        return isKnown ? [] : [{ path: [url], value: { ...now, challenge } }];
      });
    },
    async forget(url: string): Promise<boolean> {
      const { value } = await store.read();
      if (!Object.hasOwn(value, url) || value[url]?.tokens === undefined) return false;
      await store.change(() => [{ path: [url], value: undefined }]);
      return true;
    },
  };
}

export type CredentialStore = ReturnType<typeof openCredentials>;
