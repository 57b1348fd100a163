import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import type { ConfiguredServer } from '../config/configured-server.ts';
import { authProvider } from './auth-provider.ts';
import { openCredentials } from './credentials.ts';

/** The login that was kept for a server, able to renew itself; never one that sends a person anywhere. */
export async function storedAuth(
  { launch }: ConfiguredServer,
  ouroHome: string,
): Promise<OAuthClientProvider | undefined> {
  if (launch.kind !== 'http' && launch.kind !== 'sse') return undefined;
  const store = openCredentials(ouroHome);
  const known = await store.of(launch.url);
  if (known?.tokens === undefined) return undefined;
  return authProvider({
    url: launch.url,
    store,
    known,
    redirectUrl: 'http://127.0.0.1/callback',
    state: '',
    visit: () => undefined,
  });
}

/** Does the server want a login, or a new one? */
export function isUnauthorized(thrown: unknown): boolean {
  if (thrown instanceof UnauthorizedError) return true;
  return thrown instanceof Error && 'code' in thrown && thrown.code === 401;
}
