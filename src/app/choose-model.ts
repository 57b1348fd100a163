import type { RunOptions } from '../contracts/run-options.ts';
import type { Settings } from '../contracts/settings.ts';
import { DEFAULT_MODEL } from '../model/catalog.ts';
import { choosePort, type PortChoice, type PortConfig } from '../model/choose-port.ts';
import type { Environment } from './environment.ts';
import { withRetryKnobs } from './knobs.ts';

/** What the surroundings, the settings and the command line say about models, as one value. */
export function chooseModel(
  options: RunOptions,
  settings: Settings,
  environment: Environment,
  stored: { readonly model?: string; readonly apiKey?: string },
): PortChoice {
  const { apiKey, authToken } = environment.credentials;
  const key = apiKey ?? stored.apiKey;
  const keySource =
    apiKey !== undefined ? 'ANTHROPIC_API_KEY' : authToken !== undefined ? 'ANTHROPIC_AUTH_TOKEN' : 'stored key';
  const model = options.model ?? stored.model ?? environment.model ?? settings.model ?? DEFAULT_MODEL;
  const smallModel = environment.smallModel ?? settings.smallModel;
  const baseUrl = environment.baseUrl ?? settings.baseUrl;
  const config: PortConfig = {
    model,
    ...withRetryKnobs(environment.knobs, settings),
    ...(key === undefined ? {} : { apiKey: key }),
    ...(authToken === undefined || key !== undefined ? {} : { authToken }),
    ...(key === undefined && authToken === undefined ? {} : { keySource }),
    ...(smallModel === undefined ? {} : { smallModel }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(options.betas === undefined ? {} : { betas: options.betas }),
    demo: { stage: { projectDir: options.cwd, cwd: options.cwd } },
  };
  return choosePort(config);
}
