import type { Environment, RuntimeLimits } from '../../contracts/environment.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { StoredApiKeys } from '../api-keys.ts';
import { type CloudSettings, EMPTY_CLOUD_SETTINGS } from '../providers/cloud-settings.ts';
import { isSampleProject } from '../providers/demo/sample-project.ts';
import { type ModelConfig, readModelConfig } from './model-config.ts';
import { createModelRegistry, type ModelRegistryResult } from './model-registry.ts';

/** State of a resumed session, stored API keys, and the listener for output of sign-in commands. */
type StoredState = {
  readonly onSignIn?: CloudSettings['onSignIn'];
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly keys?: StoredApiKeys;
};

/** Creates the model registry from the command line, the session, the environment and the settings. */
export function openModelRegistry(
  options: CliRunOptions,
  settings: Settings,
  environment: Environment,
  limits: () => RuntimeLimits,
  { keys = new Map(), onSignIn, ...stored }: StoredState,
): ModelRegistryResult {
  const parsed = readModelConfig(settings, environment, keys, limits);
  if (!parsed.ok) return parsed;
  return createModelRegistry({
    ...parsed.config,
    clouds: { ...(parsed.config.clouds ?? EMPTY_CLOUD_SETTINGS), onSignIn },
    model: options.model ?? stored.model ?? parsed.config.model,
    ...(options.betas === undefined ? {} : { betas: options.betas }),
    demo: createDemoSettings(options, stored.cwd),
  });
}

/** Chooses the demo's sample project: the session's folder, the working directory, or a separate one. */
function createDemoSettings(
  { cwd, frontend, demoProject }: CliRunOptions,
  storedCwd: string | undefined,
): ModelConfig['demo'] {
  // The typing delay is only useful on screen.
  const timing = frontend === 'screen' ? {} : { sleep: async () => undefined };
  const existingProject = [storedCwd, cwd].find((dir) => dir !== undefined && isSampleProject(dir));
  const projectDir = existingProject ?? demoProject;
  return projectDir === undefined ? timing : { ...timing, project: { projectDir, cwd: existingProject ?? cwd } };
}
