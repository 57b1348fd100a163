import { realpath } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import { deleteStoredApiKey, storeApiKey } from '../../model/api-keys.ts';
import {
  explainInvalidKey,
  findKeyProviderByName,
  type KeyProviderResult,
  type ProviderWithApiKey,
} from '../../model/registry/key-provider.ts';
import { readSettings } from '../read-settings.ts';

type LoginContext = { readonly environment: Environment; readonly cwd: string };
type KeyOutcome = { readonly ok: boolean; readonly message: string };

/** Finds the provider with this name, including providers in the user settings. */
export async function findProviderByName(
  wanted: string,
  { environment, cwd }: LoginContext,
): Promise<KeyProviderResult> {
  const { merged } = await readSettings({ cwd: await realpath(cwd) }, environment, false);
  return findKeyProviderByName(wanted, Object.keys(merged.providers ?? {}));
}

/** Stores the key of a provider. Reports where it is stored, and which variable overrides it. */
export async function saveProviderKey(
  { name, label, variables }: ProviderWithApiKey,
  input: string,
  environment: Environment,
): Promise<KeyOutcome> {
  const key = input.trim();
  const problem = explainInvalidKey(key);
  if (problem !== undefined) return { ok: false, message: problem };
  const location = await storeApiKey(environment, name, key);
  const all = { ...environment.variables, ...environment.keys };
  const overriding = variables.find((variable) => (all[variable] ?? '').trim() !== '');
  const message = `The ${label} key is stored in ${location}.`;
  return {
    ok: true,
    message: overriding === undefined ? message : `${message} While ${overriding} is set, that key is used instead.`,
  };
}

/** Deletes the stored key of a provider. */
export async function removeProviderKey(
  { name, label }: Pick<ProviderWithApiKey, 'name' | 'label'>,
  environment: Environment,
): Promise<KeyOutcome> {
  return (await deleteStoredApiKey(environment, name))
    ? {
        ok: true,
        message: `The stored ${label} key is deleted. It is still valid at the provider; revoke it there if others may have it.`,
      }
    : { ok: false, message: `No ${label} key is stored.` };
}
