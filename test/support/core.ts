import { type Core, createEventBus, createInbox } from '../../src/app/core.ts';
import { readEnvironment } from '../../src/app/environment.ts';
import { readSettings } from '../../src/app/read-settings.ts';
import type { LiveSessionValues } from '../../src/contracts/session-core.ts';
import { openGitRepository } from '../../src/git/git-repository.ts';
import { createFileLocks } from '../../src/lib/files/file-locks.ts';
import { createMountHealth } from '../../src/lib/files/mount-health.ts';
import { createKnownKeys } from '../../src/lib/text/known-keys.ts';
import { createModelRegistry } from '../../src/model/registry/model-registry.ts';
import { createUsageMeter } from '../../src/model/usage-meter.ts';
import { createLiveSessionState } from '../../src/session/persisted-state.ts';
import { buildChildVariables, resolveTimeoutsAndRetries } from '../../src/settings/effective-environment.ts';
import { bareEnvironment } from './environment.ts';
import { runOptions } from './run-options.ts';
import type { TempProject } from './temp-project.ts';

/** Creates the core of a conversation in a project; `more` replaces parts of it. */
export async function testCore(
  project: TempProject,
  { live = {}, ...more }: Partial<Omit<Core, 'live'>> & { readonly live?: Partial<LiveSessionValues> } = {},
): Promise<Core> {
  const { environment = readEnvironment(bareEnvironment(project)), trusted = true } = more;
  const loaded = await readSettings({ cwd: project.dir }, environment, trusted);
  const model = createModelRegistry({ model: 'sonnet', apiKey: 'k' });
  if (!model.ok) throw new Error(model.problem);
  const extensions = { commands: [], skills: [], agents: [], styles: [], plugins: [], problems: [] };
  return {
    options: runOptions({ cwd: project.dir }),
    environment,
    cwd: project.dir,
    trusted,
    acceptsExternalFile: () => false,
    programs: { findUnapproved: async () => [], approve: async () => undefined, listFrozen: () => [] },
    settings: {
      current: () => loaded.merged,
      loaded: () => loaded,
      limits: () => resolveTimeoutsAndRetries(environment, loaded.merged),
      variables: () => buildChildVariables(environment, loaded.merged),
      refresh: async () => undefined,
      approveOwnChange: async () => undefined,
    },
    extensions: { current: () => extensions, refresh: async () => undefined, reload: async () => undefined },
    live: createLiveSessionState({ ...START, cwd: project.dir, ...live }),
    model,
    knownKeys: createKnownKeys(),
    smallModel: () => model.getSmallModel('sonnet'),
    meter: createUsageMeter(model.infoOf),
    mounts: createMountHealth(),
    locks: createFileLocks(environment.ouroHome),
    repository: await openGitRepository(project.dir, {
      variables: {},
      trusted: false,
      isConfigSafe: () => false,
      isSelfContained: () => false,
    }),
    bus: createEventBus(),
    inbox: createInbox(),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    ...more,
  };
}

const START: Omit<LiveSessionValues, 'cwd'> = {
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
