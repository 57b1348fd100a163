import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type OAuthClientInformationMixed,
  OAuthClientInformationSchema,
  type OAuthTokens,
  OAuthTokensSchema,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import { ifThere } from '../../lib/files/errno.ts';
import { writePrivately } from '../../lib/files/private-file.ts';

/** What a login leaves: who we are to the server, and what it gave us. */
export type Credentials = {
  readonly client?: OAuthClientInformationMixed | undefined;
  readonly tokens?: OAuthTokens | undefined;
};

const schema = z.record(
  z.string(),
  z.object({ client: OAuthClientInformationSchema.optional(), tokens: OAuthTokensSchema.optional() }),
);

/** The logins of one person, by address, in a file nobody else may read. */
export function openCredentials(ouroHome: string) {
  const file = join(ouroHome, 'mcp-logins.json');

  async function all(): Promise<Readonly<Record<string, Credentials>>> {
    const text = await ifThere(readFile(file, 'utf8'));
    // A damaged file means one more login, never a program that does not start.
    return text === undefined ? {} : (schema.safeParse(parseJson(text)).data ?? {});
  }

  return {
    async of(url: string): Promise<Credentials | undefined> {
      const known = await all();
      return Object.hasOwn(known, url) ? known[url] : undefined;
    },
    async keep(url: string, credentials: Credentials): Promise<void> {
      await writePrivately(file, `${JSON.stringify({ ...(await all()), [url]: credentials }, null, 2)}\n`);
    },
    async forget(url: string): Promise<boolean> {
      const known = await all();
      if (!Object.hasOwn(known, url)) return false;
      const rest = Object.fromEntries(Object.entries(known).filter(([each]) => each !== url));
      await writePrivately(file, `${JSON.stringify(rest, null, 2)}\n`);
      return true;
    },
  };
}

export type CredentialStore = ReturnType<typeof openCredentials>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
