import type { Environment, Limits } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { Settings } from '../../contracts/settings.ts';
import { DEFAULT_MODEL } from '../catalog.ts';
import { isSample } from '../demo/place.ts';
import { catalogueFolder, newestPages } from '../facts/newest-pages.ts';
import { createKeyHelper } from '../keys/key-helper.ts';
import { createNetworkFetch } from '../wire/network-fetch.ts';
import { choosePort, type PortChoice } from './choose-port.ts';
import type { PortConfig } from './port-config.ts';
import { readModels } from './read-models.ts';
import { readProviders } from './read-providers.ts';

/** What the surroundings, the settings and the command line say about models, as one value. */
export function chooseModel(
  options: RunOptions,
  settings: Settings,
  environment: Environment,
  limits: () => Limits,
  stored: { readonly model?: string | undefined; readonly apiKey?: string; readonly cwd?: string | undefined },
): PortChoice {
  const read = readProviders(settings, environment);
  if (!read.ok) return read;
  const said = readModels(settings, new Date().toISOString().slice(0, 10));
  if (!said.ok) return said;
  const model = options.model ?? stored.model ?? environment.model ?? settings.model ?? DEFAULT_MODEL;
  const smallModel = environment.smallModel ?? settings.smallModel;
  const baseUrl = environment.baseUrl ?? settings.baseUrl;
  const send = createNetworkFetch({
    variables: environment.variables,
    keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
  });
  return choosePort({
    model,
    providers: read.providers,
    ...portLimits(limits),
    ...credentialsOf(settings, environment, stored.apiKey),
    ...(smallModel === undefined ? {} : { smallModel }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(options.betas === undefined ? {} : { betas: options.betas }),
    models: said.models,
    pageOf: newestPages(catalogueFolder(environment.ouroHome)),
    demo: demoStage(options, stored.cwd),
    fetch: send,
  });
}

/** The demo plays in its own project: where the run is, where its session was, or beside it. */
function demoStage({ cwd, face, demoProject }: RunOptions, storedCwd: string | undefined): PortConfig['demo'] {
  // Only somebody who watches wants to see it typed.
  const timing = face === 'screen' ? {} : { sleep: async () => undefined };
  const own = [storedCwd, cwd].find((dir) => dir !== undefined && isSample(dir));
  const projectDir = own ?? demoProject;
  return projectDir === undefined ? timing : { ...timing, stage: { projectDir, cwd: own ?? cwd } };
}

/** The nearest key wins: the environment's, a helper's, the one that was stored. */
function credentialsOf(
  { apiKeyHelper }: Settings,
  { credentials: { apiKey, authToken }, variables }: Environment,
  storedKey: string | undefined,
): Pick<PortConfig, 'apiKey' | 'onRefusedKey' | 'authToken' | 'keySource'> {
  if (apiKey !== undefined) return { apiKey, keySource: 'ANTHROPIC_API_KEY' };
  if (authToken !== undefined) return { authToken, keySource: 'ANTHROPIC_AUTH_TOKEN' };
  if (apiKeyHelper !== undefined) {
    const helper = createKeyHelper(apiKeyHelper, variables, Date.now);
    return { apiKey: helper.key, onRefusedKey: helper.forget, keySource: 'apiKeyHelper' };
  }
  return storedKey === undefined ? {} : { apiKey: storedKey, keySource: 'stored key' };
}

/** Patience and retries, asked at each request. */
function portLimits(limits: () => Limits): Pick<PortConfig, 'patience' | 'retry'> {
  return {
    patience() {
      const { streamIdleTimeoutMs, headerTimeoutMs } = limits();
      return {
        ...(streamIdleTimeoutMs === undefined ? {} : { idleTimeoutMs: streamIdleTimeoutMs }),
        ...(headerTimeoutMs === undefined ? {} : { headerTimeoutMs }),
      };
    },
    retry: {
      limits() {
        const { maxRetries, retryBaseMs } = limits();
        return { maxRetries, baseMs: retryBaseMs };
      },
    },
  };
}
