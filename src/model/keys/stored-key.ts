import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import { type JsonStore, openJsonStore } from '../../lib/files/json-store.ts';

const keys = z.object({ anthropic: z.string().min(1).optional() });

/** `problem` says why no key could be read where one may have been stored. */
export type StoredKey = { readonly apiKey?: string; readonly problem?: string };

/** The key that was pasted once, unless the surroundings bring one. */
export async function storedKey({ ouroHome, credentials }: Environment): Promise<StoredKey> {
  if (credentials.apiKey !== undefined || credentials.authToken !== undefined) return {};
  const { value, problem } = await openKeys(ouroHome).read();
  if (value.anthropic !== undefined) return { apiKey: value.anthropic };
  return problem === undefined ? {} : { problem: `${problem} Move it away and paste the key again.` };
}

/** Keeps a key for the next start, readable by its owner alone. */
export async function storeKey(ouroHome: string, key: string): Promise<void> {
  await openKeys(ouroHome).change(() => [{ path: ['anthropic'], value: key.trim() }]);
}

function openKeys(ouroHome: string): JsonStore<z.output<typeof keys>> {
  const file = join(ouroHome, 'keys.json');
  return openJsonStore(file, { empty: {}, entryDepth: 1, parse: (json) => keys.safeParse(json) });
}
