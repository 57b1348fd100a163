import type { Environment, Limits } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { Settings } from '../../contracts/settings.ts';
import { type CloudSettings, NO_CLOUDS } from '../clouds/cloud-settings.ts';
import { isSample } from '../demo/place.ts';
import type { StoredKeys } from '../keys/stored-keys.ts';
import { choosePort, type PortChoice } from './choose-port.ts';
import type { PortConfig } from './port-config.ts';
import { readPortConfig } from './read-port-config.ts';

/** What an earlier run left: its model and folder, and keys that were stored; and who hears what a sign-in says. */
type Stored = {
  readonly onSignIn?: CloudSettings['onSignIn'];
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly keys?: StoredKeys;
};

/** What the surroundings, the settings and the command line say about models, as one value. */
export function chooseModel(
  options: RunOptions,
  settings: Settings,
  environment: Environment,
  limits: () => Limits,
  { keys = new Map(), onSignIn, ...stored }: Stored,
): PortChoice {
  const read = readPortConfig(settings, environment, keys, limits);
  if (!read.ok) return read;
  return choosePort({
    ...read.config,
    clouds: { ...(read.config.clouds ?? NO_CLOUDS), onSignIn },
    model: options.model ?? stored.model ?? read.config.model,
    ...(options.betas === undefined ? {} : { betas: options.betas }),
    demo: demoStage(options, stored.cwd),
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
