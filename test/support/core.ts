import { createBus } from '../../src/app/bus.ts';
import type { Core } from '../../src/app/core.ts';
import { readEnvironment } from '../../src/app/environment.ts';
import { readSettings } from '../../src/app/settings/read-settings.ts';
import type { Live } from '../../src/contracts/live.ts';
import { openRepository } from '../../src/git/repository.ts';
import { choosePort } from '../../src/model/choose/choose-port.ts';
import { createUsageMeter } from '../../src/model/usage-meter.ts';
import { createLiveState } from '../../src/session/live-state.ts';
import { childVariables } from '../../src/settings/child-variables.ts';
import { limitsOf } from '../../src/settings/limits.ts';
import { bareEnvironment } from './environment.ts';
import { runOptions } from './run-options.ts';
import type { TempProject } from './temp-project.ts';

/** What parts of a conversation in this project are made with; `more` replaces what a test is about. */
export async function testCore(
  project: TempProject,
  { live = {}, ...more }: Partial<Omit<Core, 'live'>> & { readonly live?: Partial<Live> } = {},
): Promise<Core> {
  const { environment = readEnvironment(bareEnvironment(project)), trusted = true } = more;
  const loaded = await readSettings({ cwd: project.dir }, environment, trusted);
  const model = choosePort({ model: 'sonnet', apiKey: 'k' });
  if (!model.ok) throw new Error(model.problem);
  const extensions = { commands: [], skills: [], agents: [], styles: [], plugins: [], problems: [] };
  return {
    options: runOptions({ cwd: project.dir }),
    environment,
    cwd: project.dir,
    trusted,
    acceptsOutside: () => false,
    settings: {
      now: () => loaded.merged,
      loaded: () => loaded,
      limits: () => limitsOf(environment, loaded.merged),
      variables: () => childVariables(environment, loaded.merged),
      refresh: async () => undefined,
      approveOwnChange: async () => undefined,
    },
    extensions: { now: () => extensions, refresh: async () => undefined, reload: async () => undefined },
    live: createLiveState({ ...START, cwd: project.dir, ...live }),
    model,
    smallModel: () => model.smallModelFor('sonnet'),
    meter: createUsageMeter(model.infoOf),
    repository: await openRepository(project.dir, { variables: {}, trusted: false, mayLook: () => false }),
    bus: createBus(),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    ...more,
  };
}

const START: Omit<Live, 'cwd'> = {
  model: 'claude-sonnet-5-5',
  effort: 'off',
  thinkingTokens: undefined,
  mode: 'default',
  todos: [],
  title: undefined,
  outputStyle: 'default',
  grants: [],
  directories: [],
};
