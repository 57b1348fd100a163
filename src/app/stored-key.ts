import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../lib/errno.ts';
import { writePrivately } from '../lib/private-file.ts';
import type { Environment } from './environment.ts';

/** The key that was pasted once, unless the surroundings bring one. */
export async function readStoredKey({ ouroHome, credentials }: Environment): Promise<string | undefined> {
  if (credentials.apiKey !== undefined || credentials.authToken !== undefined) return undefined;
  const key = (await ifThere(readFile(keyFile(ouroHome), 'utf8')))?.trim() ?? '';
  return key === '' ? undefined : key;
}

/** Keeps a key for the next start, readable by its owner alone. */
export function storeKey(ouroHome: string, key: string): Promise<void> {
  return writePrivately(keyFile(ouroHome), `${key.trim()}\n`);
}

/** Where the pasted key lies. */
export function keyFile(ouroHome: string): string {
  return join(ouroHome, 'api.key');
}
