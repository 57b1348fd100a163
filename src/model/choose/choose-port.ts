import type { ModelPort } from '../../contracts/model.ts';
import { SMALL_MODEL } from '../catalog.ts';
import { PRESETS } from '../presets.ts';
import { keyProblem, unknownPlace } from './key-problem.ts';
import type { InfoOfModels } from './model-info.ts';
import { choiceName, locateModel, type ModelPlace, type Providers, placeOf } from './model-name.ts';
import { type Offer, offeredModels } from './offered.ts';
import type { PortConfig } from './port-config.ts';
import { openRouter } from './router.ts';

/** Every model the configuration can reach. */
export type ModelChoice = Pick<InfoOfModels, 'infoOf' | 'lookUp' | 'learn'> & {
  readonly port: ModelPort;
  /** The model choice: stored with a session and repeated on resume. */
  readonly model: string;
  readonly provider: ModelPlace['provider'];
  readonly keySource: string;
  /** The model choice a name stands for, or what is missing to ask it. */
  readonly find: (name: string) => FoundModel;
  /** A key of this place is there now: requests from here on have it. */
  readonly takeKey: (place: string, key: string) => void;
  /** The model for side calls beside this one; absent where they should be left out. */
  readonly smallModelFor: (model: string) => string | undefined;
  /** What can be chosen from: of the place keys are for, of configured servers, of those on this machine. */
  readonly offered: () => Promise<Offer>;
};

export type FoundModel =
  | { readonly ok: true; readonly model: string }
  | { readonly ok: false; readonly problem: string };

/** A port that serves every model the configuration can reach, or the sentence that says why not. */
export type PortChoice = ({ readonly ok: true } & ModelChoice) | { readonly ok: false; readonly problem: string };

/** Chooses how to reach the model that is asked for. Nothing is contacted yet. */
export function choosePort(given: PortConfig): PortChoice {
  const providers: Record<string, Providers[string]> = { ...given.providers };
  const config = { ...given, providers };
  const first = findModel(config, config.model);
  if (!first.ok) return first;
  const place = placeOf(config, config.model);
  const router = openRouter(config);
  return {
    ok: true,
    ...router,
    model: first.model,
    find: (name) => findModel(config, name),
    takeKey(name, apiKey) {
      const { fetchKey: _, ...server } = providers[name] ?? {};
      providers[name] = { ...server, apiKey, keySource: 'stored key' };
    },
    provider: place.provider,
    keySource: place.provider === 'anthropic' ? (config.keySource ?? 'none') : 'none',
    smallModelFor: (model) => smallModelOf(config, placeOf(config, model)),
    offered: () => offeredModels(config, router),
  };
}

function findModel(config: PortConfig, name: string): FoundModel {
  const place = placeOf(config, name);
  const problem = unknownPlace(config, place) ?? keyProblem(place, config);
  return problem === undefined ? { ok: true, model: choiceName(place, name) } : { ok: false, problem };
}

/** The small model of the place where the chosen one is, unless another one or none is wanted. */
function smallModelOf({ smallModel, claudeAt }: PortConfig, place: ModelPlace): string | undefined {
  if (smallModel !== undefined) return smallModel.trim().toLowerCase() === 'off' ? undefined : smallModel;
  return usualSmallModel(place, claudeAt);
}

/** The small model of a place, by the name it is chosen by; absent where there is none. */
export function usualSmallModel(place: ModelPlace, claudeAt: PortConfig['claudeAt']): string | undefined {
  switch (place.provider) {
    case 'cloud': {
      const typed = `${place.cloud}/${SMALL_MODEL}`;
      return choiceName(locateModel(typed, {}, claudeAt), typed);
    }
    case 'anthropic':
      return SMALL_MODEL;
    case 'openai': {
      const preset = PRESETS.get(place.name);
      // Another address under a known name may serve other models.
      const isItself = preset?.small !== undefined && preset.baseUrl === place.server.baseUrl;
      return isItself ? `${place.name}/${preset.small}` : undefined;
    }
    default:
      return undefined;
  }
}
