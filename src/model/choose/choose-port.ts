import type { ModelInfo, ModelPort } from '../../contracts/model.ts';
import { listModels, SMALL_MODEL } from '../catalog.ts';
import { modelsElsewhere } from './discovery.ts';
import { keyProblem } from './key-problem.ts';
import type { InfoOfModels } from './model-info.ts';
import { locateModel, type ModelPlace } from './model-name.ts';
import type { PortConfig } from './port-config.ts';
import { openRouter } from './router.ts';

/** Every model the configuration can reach. */
export type ModelChoice = Omit<InfoOfModels, 'onRefusedEditing'> & {
  readonly port: ModelPort;
  /** The model choice: stored with a session and repeated on resume. */
  readonly model: string;
  readonly provider: ModelPlace['provider'];
  readonly keySource: string;
  /** Absent where side calls should be left out. */
  readonly smallModel: string | undefined;
  /** What can be chosen from: of the place keys are for, of configured servers, of those on this machine. */
  readonly offered: () => Promise<readonly ModelInfo[]>;
};

/** A port that serves every model the configuration can reach, or the sentence that says why not. */
export type PortChoice = ({ readonly ok: true } & ModelChoice) | { readonly ok: false; readonly problem: string };

/** Chooses how to reach the model that is asked for. Nothing is contacted yet. */
export function choosePort(config: PortConfig): PortChoice {
  const place = locateModel(config.model, config.providers);
  const hasKey = config.apiKey !== undefined || config.authToken !== undefined;
  const problem = keyProblem(place, config);
  if (problem !== undefined) return { ok: false, problem };
  const router = openRouter(config);
  return {
    ok: true,
    ...router,
    model: place.provider === 'openai' ? config.model.trim() : place.model,
    provider: place.provider,
    keySource: place.provider === 'anthropic' ? (config.keySource ?? 'none') : 'none',
    smallModel: config.smallModel ?? (place.provider === 'anthropic' ? SMALL_MODEL : undefined),
    offered: async () => [
      ...(hasKey ? listModels() : []),
      ...(await modelsElsewhere(config.providers)).map(router.infoOf),
    ],
  };
}
