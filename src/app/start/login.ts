import { realpath } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import { type KeyPlace, type KeyPlaceAnswer, keyFault, keyPlace } from '../../model/keys/key-places.ts';
import { forgetKey, storeKey } from '../../model/keys/stored-keys.ts';
import { readSettings } from '../settings/read-settings.ts';

type Surroundings = { readonly environment: Environment; readonly cwd: string };
type Answer = { readonly ok: boolean; readonly words: string };

/** The place that is meant by a name, the settings of the user included. */
export async function findKeyPlace(wanted: string, { environment, cwd }: Surroundings): Promise<KeyPlaceAnswer> {
  const { merged } = await readSettings({ cwd: await realpath(cwd) }, environment, false);
  return keyPlace(wanted, Object.keys(merged.providers ?? {}));
}

/** Stores a key for a place, and says where it is now and what outranks it. */
export async function login(
  { name, label, variables }: KeyPlace,
  given: string,
  environment: Environment,
): Promise<Answer> {
  const key = given.trim();
  const fault = keyFault(key);
  if (fault !== undefined) return { ok: false, words: fault };
  const where = await storeKey(environment, name, key);
  const all = { ...environment.variables, ...environment.keys };
  const nearer = variables.find((variable) => (all[variable] ?? '').trim() !== '');
  const words = `The key of ${label} is stored in ${where}.`;
  return {
    ok: true,
    words: nearer === undefined ? words : `${words} As long as ${nearer} is set, that one is used instead.`,
  };
}

/** Forgets the stored key of a place. */
export async function logout(
  { name, label }: Pick<KeyPlace, 'name' | 'label'>,
  environment: Environment,
): Promise<Answer> {
  return (await forgetKey(environment, name))
    ? {
        ok: true,
        words: `The stored key of ${label} is gone. Where it was made it is still valid; take it back there if others may have it.`,
      }
    : { ok: false, words: `No key of ${label} is stored.` };
}
