import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import type { FirstRunAnswers, FirstRunQuestions } from '../../contracts/frontend/first-run.ts';
import { readStoredApiKeys, storeApiKey } from '../../model/api-keys.ts';
import { moveToSampleProject } from '../../model/providers/demo/sample-project.ts';
import { listProvidersWithKey } from '../../model/registry/explain-missing-model.ts';
import { detectKeyProvider } from '../../model/registry/key-provider.ts';
import { openModelRegistry } from '../../model/registry/model-registry.ts';
import { readProviderConfigs } from '../../model/registry/provider-settings.ts';
import { saveUserSetting } from '../../settings/edit-settings.ts';
import { applySettingsEnvironment, resolveTimeoutsAndRetries } from '../../settings/effective-environment.ts';
import { findImportOffer } from '../../settings/import-offer.ts';
import { isSettingsSourceEnabled } from '../../settings/load-settings.ts';
import { readSettings } from '../read-settings.ts';
import { findBypassQuestion, settleBypass } from '../trust/bypass-agreement.ts';
import { buildTrustQuestion, saveTrustAnswer } from '../trust/trust-question.ts';

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
  const [trust, key, bypass, offer] = await Promise.all([
    findTrustQuestion(folder, run, environment),
    findKey(run, environment),
    findBypassQuestion(run, environment),
    run.session.kind === 'new' ? findImportOffer(environment) : undefined,
  ]);
  if (trust === undefined && key.key === 'found' && offer === undefined && bypass === 'settled') return undefined;
  return { version: environment.version, folder, trust: undefined, parent: undefined, ...key, offer, bypass, ...trust };
}

/** Finds the question whether to trust the folder, or its parent as a whole. */
async function findTrustQuestion(
  folder: string,
  run: CliRunOptions,
  environment: Environment,
): Promise<Pick<FirstRunQuestions, 'trust' | 'parent'> | undefined> {
  if (run.trust === 'this-run' || !usesFolderSettings(run)) return undefined;
  const asked = await buildTrustQuestion(folder, environment, 'start');
  if (asked === undefined) return undefined;
  const { question, store } = asked;
  const hasEffects = question.effects.length > 0 || existsSync(join(folder, '.git'));
  // Folders without effects, and folders that can never be trusted, are not asked about.
  if (!hasEffects || question.refusal !== undefined) return undefined;
  const parent = dirname(folder);
  const canTrustParent = question.state === 'new' && store.getRefusal(parent) === undefined;
  return { trust: question, parent: canTrustParent ? parent : undefined };
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
  const run = question.bypass === 'settled' ? options : await settleBypass(bypass, options, environment);
  const selectModel = async (name: string) => {
    await saveUserSetting(ouroHome, 'model', name);
    return { ...run, model: name };
  };
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
