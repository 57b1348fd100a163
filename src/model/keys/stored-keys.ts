import { join } from 'node:path';
import { z } from 'zod';
import { type JsonStore, openJsonStore } from '../../lib/files/json-store.ts';
import { openKeyring } from './keyring.ts';

/** A key that was stored once, and where it lies, in words. One of the keyring is fetched when it is needed. */
export type StoredKey = { readonly key: string | (() => Promise<string>); readonly source: string };

/** Stored keys by the name of their place: `anthropic`, `groq`. */
export type StoredKeys = ReadonlyMap<string, StoredKey>;

type Surroundings = Parameters<typeof openKeyring>[0];

const inKeyring = z.object({ in: z.literal('keyring') });
const file = z.object({ v: z.literal(1).optional() }).catchall(z.union([z.string().min(1), inKeyring]));

/** `problem` says why no key could be read where one may have been stored. */
export async function storedKeys(
  surroundings: Surroundings,
): Promise<{ readonly keys: StoredKeys; readonly problem?: string }> {
  const { value, problem } = await openFile(surroundings.ouroHome).read();
  const { v: _, ...entries } = value;
  const keys = Object.entries(entries).flatMap(([name, entry]): [string, StoredKey][] => {
    if (typeof entry === 'string') return [[name, { key: entry, source: 'stored key' }]];
    return typeof entry === 'object' ? [[name, { key: fetched(name, surroundings), source: 'keyring' }]] : [];
  });
  const read = { keys: new Map(keys) };
  return problem === undefined
    ? read
    : { ...read, problem: `${problem} Move it away and store the key again: ouro login.` };
}

function fetched(name: string, surroundings: Surroundings): () => Promise<string> {
  let known: string | undefined;
  return async () => {
    known ??= await openKeyring(surroundings)?.lookUp(name);
    if (known === undefined)
      throw new Error(
        `the keyring does not give out the key of ${name}. Unlock it, or store the key again: ouro login ${name}.`,
      );
    return known;
  };
}

/** Keeps a key for the next start: in the keyring where there is one, else in a file for its owner alone. Answers with where. */
export async function storeKey(surroundings: Surroundings, name: string, given: string): Promise<string> {
  const key = given.trim();
  const keyring = openKeyring(surroundings);
  const isThere = keyring !== undefined && (await keyring.store(name, key));
  await openFile(surroundings.ouroHome).change(() => [{ path: [name], value: isThere ? { in: 'keyring' } : key }]);
  return isThere ? keyring.label : fileOf(surroundings.ouroHome);
}

/** Forgets a stored key; false where there was none. */
export async function forgetKey(surroundings: Surroundings, name: string): Promise<boolean> {
  const store = openFile(surroundings.ouroHome);
  const { value } = await store.read();
  const entry = Object.hasOwn(value, name) ? value[name] : undefined;
  if (entry === undefined) return false;
  if (typeof entry === 'object') await openKeyring(surroundings)?.forget(name);
  await store.change(() => [{ path: [name], value: undefined }]);
  return true;
}

function fileOf(ouroHome: string): string {
  return join(ouroHome, 'keys.json');
}

function openFile(ouroHome: string): JsonStore<z.output<typeof file>> {
  return openJsonStore(fileOf(ouroHome), { empty: {}, entryDepth: 1, parse: (json) => file.safeParse(json) });
}
