import { realpath } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import { createModelInfo } from '../../model/choose/model-info.ts';
import { type Offer, offeredModels } from '../../model/choose/offered.ts';
import type { PortConfig } from '../../model/choose/port-config.ts';
import { readPortConfig } from '../../model/choose/read-port-config.ts';
import { catalogueFolder } from '../../model/facts/newest-pages.ts';
import { CATALOGUE_URL, type CatalogueUpdate, updateCatalogue } from '../../model/facts/update-catalogue.ts';
import { storedKeys } from '../../model/keys/stored-keys.ts';
import { createNetworkFetch } from '../../model/wire/network-fetch.ts';
import { keysAside } from '../../settings/child-variables.ts';
import { limitsOf } from '../../settings/limits.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { Finding } from './doctor.ts';
import { liveCheck } from './live-check.ts';

type Surroundings = { readonly environment: Environment; readonly cwd: string };

/** What a run without flags would know about models; a setting that cannot be understood throws its sentence. */
async function portConfigHere({ environment: given, cwd: folder }: Surroundings): Promise<PortConfig> {
  const cwd = await realpath(folder);
  // What a project says about models is the name of one: its trust does not matter here.
  const { merged } = await readSettings({ cwd }, given, false);
  const environment = keysAside(given, merged);
  const { keys } = await storedKeys(environment);
  const read = readPortConfig(merged, environment, keys, () => limitsOf(environment, merged));
  if (!read.ok) throw new Error(read.problem);
  return read.config;
}

/** Every model that can be used here, and the places that only lack a key. */
export async function modelsHere(surroundings: Surroundings): Promise<Offer> {
  const config = await portConfigHere(surroundings);
  return offeredModels(config, createModelInfo(config));
}

/** Makes one smallest request at each place that can be used here. */
export async function checkModels(surroundings: Surroundings): Promise<readonly Finding[]> {
  const config = await portConfigHere(surroundings);
  return liveCheck(config, await offeredModels(config, createModelInfo(config)));
}

/** Reads the catalogue of models anew, from where the settings say. */
export async function updateModels({
  environment,
  cwd,
}: Surroundings): Promise<CatalogueUpdate & { readonly url: string }> {
  const { merged } = await readSettings({ cwd: await realpath(cwd) }, environment, false);
  const url = merged.modelCatalogueUrl ?? CATALOGUE_URL;
  const update = await updateCatalogue({
    url,
    folder: catalogueFolder(environment.ouroHome),
    today: new Date().toISOString().slice(0, 10),
    send: createNetworkFetch({
      variables: environment.variables,
      keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
    }),
  });
  return { ...update, url };
}
