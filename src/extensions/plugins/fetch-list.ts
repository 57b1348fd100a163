import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { isWebAddress, MARKETPLACE_FILE } from './marketplace.ts';

const FETCH_MS = 30_000;
const MOST_BYTES = 2_000_000;

/** Brings the list into a folder of ours, where a marketplace has its list. */
export async function fetchList(address: string, folder: string): Promise<void> {
  const path = join(folder, MARKETPLACE_FILE);
  const text = await textAt(address).catch((thrown) => {
    throw new Error(`${address} could not be fetched: ${messageOf(thrown)}`, { cause: thrown });
  });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600 });
}

async function textAt(address: string): Promise<string> {
  const response = await fetch(address, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  if (!isWebAddress(response.url)) throw new Error(`it leads to ${response.url}, which is not encrypted`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error('it is too long for a list of plugins');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
