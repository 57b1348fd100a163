import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import { type JsonStore, openJsonStore } from '../../lib/files/json-store.ts';

const keys = z.object({ anthropic: z.string().min(1).optional() });

/** The key that was pasted once, unless the surroundings bring one. */
export async function storedKey({ ouroHome, credentials }: Environment): Promise<{ readonly apiKey?: string }> {
  if (credentials.apiKey !== undefined || credentials.authToken !== undefined) return {};
  const { value, problem } = await openKeys(ouroHome).read();
  if (value.anthropic !== undefined) return { apiKey: value.anthropic };
  if (problem !== undefined) throw new Error(`${problem} Move it away and paste the key again.`);
  return {};
}

/** Keeps a key for the next start, readable by its owner alone. */
export async function storeKey(ouroHome: string, key: string): Promise<void> {
  await openKeys(ouroHome).change(() => [{ path: ['anthropic'], value: key.trim() }]);
}

function openKeys(ouroHome: string): JsonStore<z.output<typeof keys>> {
  const file = join(ouroHome, 'keys.json');
  return openJsonStore(file, { empty: {}, entryDepth: 1, parse: (json) => keys.safeParse(json) });
}
