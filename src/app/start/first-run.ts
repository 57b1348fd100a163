import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import type { FirstRunAnswer, FirstRunQuestion, LocalModels } from '../../contracts/face/first-run.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { TrustQuestion } from '../../contracts/face/trust.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { chooseModel } from '../../model/choose/choose-model.ts';
import { discoverLocalServers, modelsAt } from '../../model/choose/discovery.ts';
import { keysFound } from '../../model/choose/explain-no-model.ts';
import { NO_KEY } from '../../model/choose/key-problem.ts';
import { readProviders } from '../../model/choose/read-providers.ts';
import { inSampleProject } from '../../model/demo/place.ts';
import { ownerOfKey } from '../../model/keys/key-places.ts';
import { storedKeys, storeKey } from '../../model/keys/stored-keys.ts';
import { bypassObjection, firstMode } from '../../permissions/first-mode.ts';
import { keysAside } from '../../settings/child-variables.ts';
import { countsSource } from '../../settings/counts-source.ts';
import { keepSetting } from '../../settings/keep-setting.ts';
import { limitsOf } from '../../settings/limits.ts';
import { openTrust } from '../../settings/trust.ts';
import { isAsShown, trustQuestion } from '../settings/folder-trust.ts';
import { readSettings } from '../settings/read-settings.ts';
import { takeOverOffer } from './take-over.ts';

/** Everything a run has to know is known, or a person has to be asked first. */
export type FirstRun =
  | { readonly state: 'ready'; readonly run: RunOptions }
  | { readonly state: 'asking'; readonly question: FirstRunQuestion };

/** Finds out whether anything has to be settled before the first question. The demo plays in a sample of its own. */
export async function openFirstRun(run: RunOptions, environment: Environment): Promise<FirstRun> {
  if (run.model === 'demo' && run.session.kind === 'new') return { state: 'ready', run: await inSampleProject(run) };
  const question = await firstRunQuestion(run, environment);
  return question === undefined ? { state: 'ready', run } : { state: 'asking', question };
}

async function firstRunQuestion(run: RunOptions, environment: Environment): Promise<FirstRunQuestion | undefined> {
  const folder = await realpath(run.cwd);
  const [asked, key] = await Promise.all([
    run.trust === 'this-run' || !countsAnything(run) ? undefined : trustQuestion(folder, environment, 'start'),
    findKey(run, environment),
  ]);
  // A folder that brings nothing, and one too wide to be trusted, is not asked about.
  const bypass = await bypassQuestion(run, environment);
  const brings = asked !== undefined && (asked.question.effects.length > 0 || existsSync(join(folder, '.git')));
  const trust = brings && asked.question.refusal === undefined ? asked.question : undefined;
  const offer = run.session.kind === 'new' ? await takeOverOffer(environment) : undefined;
  if (trust === undefined && key.key === 'found' && offer === undefined && bypass === 'settled') return undefined;
  const above = dirname(folder);
  const parent = trust?.state === 'new' && asked?.store.refusal(above) === undefined ? above : undefined;
  return { version: environment.version, folder, trust, parent, ...key, offer, bypass };
}

/** Where a run leaves out all that a folder brings, nobody has to say whether it may. */
function countsAnything({ settingSources }: RunOptions): boolean {
  return countsSource(settingSources, 'project') || countsSource(settingSources, 'local');
}

/** Is there a way to a model? What a stored session uses is found when it is opened. */
async function findKey(run: RunOptions, environment: Environment): Promise<Pick<FirstRunQuestion, 'key' | 'places'>> {
  const { apiKey, authToken } = environment.credentials;
  if (apiKey !== undefined || authToken !== undefined || run.session.kind !== 'new') return FOUND;
  const [loaded, stored] = await Promise.all([readSettings(run, environment, false), storedKeys(environment)]);
  const surroundings = keysAside(environment, loaded.merged);
  const choice = chooseModel(run, loaded.merged, surroundings, () => limitsOf(environment, loaded.merged), stored);
  if (choice.ok || choice.problem !== NO_KEY) return FOUND;
  const read = readProviders(loaded.merged, surroundings, stored.keys);
  return { key: 'missing', places: read.ok ? keysFound(read.providers) : [] };
}

const FOUND = { key: 'found', places: [] } as const;

/** A run that may skip all questions is agreed to once; who may not skip them is told so later. */
async function bypassQuestion(run: RunOptions, environment: Environment): Promise<FirstRunQuestion['bypass']> {
  const isFlagged = run.skipPermissions !== undefined || run.permissionMode === 'bypassPermissions';
  const own = isFlagged ? '' : await ifThere(readFile(join(environment.ouroHome, 'settings.json'), 'utf8'));
  if (!isFlagged && own?.includes('bypassPermissions') !== true) return 'settled';
  if ((await agreedStore(environment).read()).value !== undefined) return 'settled';
  const { merged } = await readSettings(run, environment, false);
  const isAllowed = firstMode(run, merged, environment).ok && bypassObjection(run, merged, environment) === undefined;
  return isAllowed ? 'unconfirmed' : 'settled';
}

const agreed = z.object({ at: z.string() });

function agreedStore({ ouroHome }: Environment) {
  return openJsonStore<z.output<typeof agreed> | undefined>(join(ouroHome, 'bypass-agreed.json'), {
    empty: undefined,
    entryDepth: 1,
    parse: (json) => agreed.safeParse(json),
  });
}

/** Keeps what was answered, and says how to begin now; what is not any more as it was shown is asked about again. */
export async function settleFirstRun(
  question: FirstRunQuestion,
  answer: FirstRunAnswer,
  given: RunOptions,
  environment: Environment,
): Promise<FirstRun> {
  const changed = await changedSinceShown(question, answer, environment);
  if (changed !== undefined) return { state: 'asking', question: { ...question, trust: changed } };
  return { state: 'ready', run: await settled(question, answer, given, environment) };
}

async function settled(
  question: FirstRunQuestion,
  { trust, model, bypass }: FirstRunAnswer,
  given: RunOptions,
  environment: Environment,
): Promise<RunOptions> {
  const { ouroHome } = environment;
  const run = question.bypass === 'settled' || bypass === 'yes' ? given : askingAsUsual(given);
  const begunWith = async (chosen: string) => {
    await keepSetting(ouroHome, 'model', chosen);
    return { ...run, model: chosen };
  };
  if (question.bypass === 'unconfirmed' && bypass === 'yes') {
    await agreedStore(environment).change(() => [
      { path: ['v'], value: 1 },
      { path: ['at'], value: new Date().toISOString() },
    ]);
  }
  if (trust !== 'no' && question.trust !== undefined) await keepTrust(question.trust, trust, environment);
  switch (model.kind) {
    case 'demo':
      return inSampleProject(run);
    case 'key': {
      const owner = ownerOfKey(model.key);
      await storeKey(environment, owner.name, model.key);
      return owner.model === undefined ? run : begunWith(owner.model);
    }
    case 'named':
      return begunWith(model.model);
    default:
      return run;
  }
}

function askingAsUsual({ skipPermissions: _, ...run }: RunOptions): RunOptions {
  return { ...run, permissionMode: 'default' };
}

/** The question about the folder as it is now, where a yes was said to something else. */
async function changedSinceShown(
  { folder, trust: shown }: FirstRunQuestion,
  { trust }: FirstRunAnswer,
  environment: Environment,
): Promise<TrustQuestion | undefined> {
  if (trust === 'no' || shown === undefined) return undefined;
  const now = await trustQuestion(folder, environment);
  if (now === undefined || isAsShown(shown.marks, now.question.marks)) return undefined;
  return { ...now.question, state: 'changed while asked' };
}

/** What was shown is what counts: a change from now on is met as one. */
async function keepTrust(
  { dir, marks }: TrustQuestion,
  trust: 'folder' | 'below',
  { ouroHome, home }: Environment,
): Promise<void> {
  const store = await openTrust(ouroHome, home);
  const [at, approved] = trust === 'below' ? [dirname(dir), {}] : [dir, marks];
  const answer = await store.trust(at, trust, approved, new Date());
  if (!answer.ok) throw new Error(answer.why);
  if (trust === 'below') await store.approve(dir, marks);
}

/** Model servers that answer on the usual ports of this machine. */
export async function findLocalModels(): Promise<readonly LocalModels[]> {
  return (await discoverLocalServers()).map(({ name, prefix, models }) => ({
    name,
    models: models.map((model) => `${prefix}/${model}`),
  }));
}

/** The models of a server somebody named. */
export async function modelsOfServer(address: string): Promise<readonly string[]> {
  const server = await modelsAt(address);
  if (server === undefined) throw new Error(`No model server answers at ${address}. Is it started?`);
  return server.models.map((model) => `${server.baseUrl}#${model}`);
}
