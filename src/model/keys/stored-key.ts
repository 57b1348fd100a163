import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { writePrivately } from '../../lib/files/private-file.ts';

const keys = z.object({ anthropic: z.string().min(1) });

/** The key that was pasted once, unless the surroundings bring one. */
export async function storedKey({ ouroHome, credentials }: Environment): Promise<{ readonly apiKey?: string }> {
  if (credentials.apiKey !== undefined || credentials.authToken !== undefined) return {};
  const text = await ifThere(readFile(keyFile(ouroHome), 'utf8'));
  if (text === undefined) return {};
  try {
    return { apiKey: keys.parse(JSON.parse(text)).anthropic };
  } catch (cause) {
    throw new Error(`${keyFile(ouroHome)} cannot be read. Delete it and paste the key again.`, { cause });
  }
}

/** Keeps a key for the next start, readable by its owner alone. */
export function storeKey(ouroHome: string, key: string): Promise<void> {
  return writePrivately(keyFile(ouroHome), `${JSON.stringify({ anthropic: key.trim() })}\n`);
}

function keyFile(ouroHome: string): string {
  return join(ouroHome, 'keys.json');
}
