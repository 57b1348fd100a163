import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import type {
  FirstRunAnswers,
  FirstRunQuestions,
  LocalModelServer,
  TrustQuestion,
} from '../../contracts/frontend/first-run.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { readStoredApiKeys, storeApiKey } from '../../model/api-keys.ts';
import { moveToSampleProject } from '../../model/providers/demo/sample-project.ts';
import { listProvidersWithKey } from '../../model/registry/explain-missing-model.ts';
import { detectKeyProvider } from '../../model/registry/key-provider.ts';
import { openModelRegistry } from '../../model/registry/model-registry.ts';
import { readProviderConfigs } from '../../model/registry/provider-settings.ts';
import { discoverLocalServers, findServerModels } from '../../model/registry/server-discovery.ts';
import { findBypassProblem, resolveInitialMode } from '../../permissions/initial-mode.ts';
import { saveUserSetting } from '../../settings/edit-settings.ts';
import { applySettingsEnvironment, resolveTimeoutsAndRetries } from '../../settings/effective-environment.ts';
import { isSettingsSourceEnabled } from '../../settings/load-settings.ts';
import { openTrustStore } from '../../settings/trust-store.ts';
import { readSettings } from '../read-settings.ts';
import { areTrustFingerprintsEqual, buildTrustQuestion } from '../trust/trust-question.ts';
import { findImportOffer } from './import-claude-files.ts';

/** The state before a run: ready, or with questions for the user. */
export type FirstRunReadiness =
  | { readonly state: 'ready'; readonly run: CliRunOptions }
  | { readonly state: 'asking'; readonly question: FirstRunQuestions };

/** Returns the questions to answer before a run, if any; the demo runs in a sample project without. */
export async function loadFirstRunQuestions(run: CliRunOptions, environment: Environment): Promise<FirstRunReadiness> {
  if (run.model === 'demo' && run.session.kind === 'new')
    return { state: 'ready', run: await moveToSampleProject(run) };
  const question = await findQuestions(run, environment);
  return question === undefined ? { state: 'ready', run } : { state: 'asking', question };
}

async function findQuestions(run: CliRunOptions, environment: Environment): Promise<FirstRunQuestions | undefined> {
  const folder = await realpath(run.cwd);
  const [asked, key] = await Promise.all([
    run.trust === 'this-run' || !usesFolderSettings(run) ? undefined : buildTrustQuestion(folder, environment, 'start'),
    findKey(run, environment),
  ]);
  // Folders without effects, and folders that can never be trusted, are not asked about.
  const bypass = await checkBypass(run, environment);
  const hasEffects = asked !== undefined && (asked.question.effects.length > 0 || existsSync(join(folder, '.git')));
  const trust = hasEffects && asked.question.refusal === undefined ? asked.question : undefined;
  const offer = run.session.kind === 'new' ? await findImportOffer(environment) : undefined;
  if (trust === undefined && key.key === 'found' && offer === undefined && bypass === 'settled') return undefined;
  const parentFolder = dirname(folder);
  const parent =
    trust?.state === 'new' && asked?.store.getRefusal(parentFolder) === undefined ? parentFolder : undefined;
  return { version: environment.version, folder, trust, parent, ...key, offer, bypass };
}

/** Returns whether the run loads project or local settings; otherwise trust makes no difference. */
function usesFolderSettings({ settingSources }: CliRunOptions): boolean {
  return isSettingsSourceEnabled(settingSources, 'project') || isSettingsSourceEnabled(settingSources, 'local');
}

/** Finds a key for a model. For a resumed session this is checked when it is opened. */
async function findKey(
  run: CliRunOptions,
  environment: Environment,
): Promise<Pick<FirstRunQuestions, 'key' | 'providers'>> {
  const { apiKey, authToken } = environment.credentials;
  if (apiKey !== undefined || authToken !== undefined || run.session.kind !== 'new') return KEY_FOUND;
  const [loaded, stored] = await Promise.all([readSettings(run, environment, false), readStoredApiKeys(environment)]);
  const childEnvironment = applySettingsEnvironment(environment, loaded);
  const choice = openModelRegistry(
    run,
    loaded.merged,
    childEnvironment,
    () => resolveTimeoutsAndRetries(environment, loaded.merged),
    stored,
  );
  if (choice.ok || choice.code !== 'no_api_key') return KEY_FOUND;
  const read = readProviderConfigs(loaded.merged, childEnvironment, stored.keys);
  return { key: 'missing', providers: read.ok ? listProvidersWithKey(read.providers) : [] };
}

const KEY_FOUND: Pick<FirstRunQuestions, 'key' | 'providers'> = { key: 'found', providers: [] };

/** Returns whether bypassing permissions still has to be confirmed. A disallowed bypass is rejected later. */
async function checkBypass(run: CliRunOptions, environment: Environment): Promise<FirstRunQuestions['bypass']> {
  const isFlagged = run.skipPermissions !== undefined || run.permissionMode === 'bypassPermissions';
  const userSettings = isFlagged
    ? ''
    : await readRegularFile(join(environment.ouroHome, 'settings.json')).catch(() => undefined);
  if (!isFlagged && userSettings?.includes('bypassPermissions') !== true) return 'settled';
  if ((await openAgreementStore(environment).read()).value !== undefined) return 'settled';
  const { merged } = await readSettings(run, environment, false);
  const isAllowed =
    resolveInitialMode(run, merged, environment).ok && findBypassProblem(run, merged, environment) === undefined;
  return isAllowed ? 'unconfirmed' : 'settled';
}

const agreementSchema = z.object({ at: z.string() });

function openAgreementStore({ ouroHome }: Environment) {
  return openJsonStore<z.output<typeof agreementSchema> | undefined>(join(ouroHome, 'bypass-agreed.json'), {
    empty: undefined,
    entryDepth: 1,
    parse: (json) => agreementSchema.safeParse(json),
  });
}

/** Stores the answers and returns how to start. Asks again if the folder has changed since the question was shown. */
export async function saveFirstRunAnswers(
  question: FirstRunQuestions,
  answer: FirstRunAnswers,
  run: CliRunOptions,
  environment: Environment,
): Promise<FirstRunReadiness> {
  const changed = await saveTrustAnswer(question, answer, environment);
  if (changed !== undefined) return { state: 'asking', question: { ...question, trust: changed } };
  return { state: 'ready', run: await applyAnswers(question, answer, run, environment) };
}

async function applyAnswers(
  question: FirstRunQuestions,
  { model, bypass }: FirstRunAnswers,
  options: CliRunOptions,
  environment: Environment,
): Promise<CliRunOptions> {
  const { ouroHome } = environment;
  const run = question.bypass === 'settled' || bypass === 'yes' ? options : withoutBypass(options);
  const selectModel = async (name: string) => {
    await saveUserSetting(ouroHome, 'model', name);
    return { ...run, model: name };
  };
  if (question.bypass === 'unconfirmed' && bypass === 'yes') {
    await openAgreementStore(environment).change(() => [
      { path: ['v'], value: 1 },
      { path: ['at'], value: new Date().toISOString() },
    ]);
  }
  switch (model.kind) {
    case 'demo':
      return moveToSampleProject(run);
    case 'key': {
      const owner = detectKeyProvider(model.key);
      await storeApiKey(environment, owner.name, model.key);
      return owner.model === undefined ? run : selectModel(owner.model);
    }
    case 'named':
      return selectModel(model.model);
    default:
      return run;
  }
}

function withoutBypass({ skipPermissions: _, ...run }: CliRunOptions): CliRunOptions {
  return { ...run, permissionMode: 'default' };
}

/** Stores a yes about trust. Returns the new question instead if the folder has changed since it was shown. */
export async function saveTrustAnswer(
  { folder, trust: shown }: FirstRunQuestions,
  { trust }: Pick<FirstRunAnswers, 'trust'>,
  environment: Environment,
): Promise<TrustQuestion | undefined> {
  if (trust === 'no' || shown === undefined) return undefined;
  const current = await buildTrustQuestion(folder, environment);
  if (current !== undefined && !areTrustFingerprintsEqual(shown.marks, current.question.marks))
    return { ...current.question, state: 'changed-meanwhile' };
  await storeTrust(shown, trust, environment);
  return undefined;
}

/** Stores the trust with the fingerprints that were shown, so that later changes are detected. */
async function storeTrust(
  { dir, marks }: TrustQuestion,
  trust: 'folder' | 'below',
  { ouroHome, home }: Environment,
): Promise<void> {
  const store = await openTrustStore(ouroHome, home);
  const [at, approved] = trust === 'below' ? [dirname(dir), {}] : [dir, marks];
  const answer = await store.trust(at, trust, approved, new Date());
  if (!answer.ok) throw new Error(answer.problem);
  if (trust === 'below') await store.approve(dir, marks);
}

/** Finds model servers on the usual ports of this machine. */
export async function findLocalModelServers(): Promise<readonly LocalModelServer[]> {
  return (await discoverLocalServers()).map(({ name, prefix, models }) => ({
    name,
    models: models.map((model) => `${prefix}/${model}`),
  }));
}

/** Lists the models of a server as the setting names them; throws if no server responds. */
export async function listServerModels(address: string): Promise<readonly string[]> {
  const server = await findServerModels(address);
  if (server === undefined) throw new Error(`No model server responds at ${address}. Is it running?`);
  return server.models.map((model) => `${server.baseUrl}#${model}`);
}
