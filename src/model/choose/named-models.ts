import type { ModelInfo, ModelPort } from '../../contracts/model.ts';
import { DEFAULT_MODEL } from '../catalog.ts';
import { choiceName, placeOf } from './model-name.ts';
import type { PortConfig } from './port-config.ts';
import { openRouter } from './router.ts';

/** Whoever serves a model of any name that the configuration can reach. */
export type NamedModels = {
  readonly port: ModelPort;
  readonly infoOf: (model: string) => ModelInfo;
  /** Reads what the catalogue knows of a model; before that `infoOf` is cautious. Contacts nobody. */
  readonly lookUp: (model: string) => Promise<void>;
  /** The model choice that a name stands for. */
  readonly nameOf: (model: string) => string;
};

/** The same without a first model: a key that is missing is told by the reply that needed it. */
export function createNamedModels(given: Omit<PortConfig, 'model'>): NamedModels {
  const config = { ...given, model: DEFAULT_MODEL };
  return {
    ...openRouter(config),
    nameOf(model) {
      return choiceName(placeOf(config, model), model);
    },
  };
}
