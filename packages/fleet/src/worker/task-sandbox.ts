import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type Environment,
  type LoadedSettings,
  type ProgramResult,
  type RunProgramOptions,
  runShellCommand,
  startUnchecked,
} from '@ouro-cli/ouro/commands';
import {
  createLazyNetwork,
  createNetworkGate,
  createPermissionPolicySource,
  createSandbox,
  listDeniedPaths,
  openSandboxNetwork,
} from '@ouro-cli/ouro/sandbox';
import type { BatchTaskSpec } from '../store/batch.ts';
import { createTaskCheckEnvironment } from './run-ouro-child.ts';
import { createTaskManagedSettings, createTaskRunSettings, type WorkerPolicy } from './worker-policy.ts';

/** The sandbox of the commands that a worker itself runs for a task: the same as that of the commands of the model. */
export type WorkerCommandSandbox = Awaited<ReturnType<typeof openTaskSandbox>>;

type SandboxDeps = {
  readonly environment: Environment;
  readonly policy: WorkerPolicy;
  /** Reads the settings that ouro would have in a folder, which is not trusted. */
  readonly readSettings: (run: TaskRunSettings) => Promise<LoadedSettings>;
};

/** The folder, the managed settings and the other settings of a run, the latter two as JSON. */
export type TaskRunSettings = { readonly cwd: string; readonly policy: string; readonly settings: string };

/** Opens the sandbox of a task in its folder, from the settings that also apply to its runs of ouro. */
export async function openTaskSandbox(
  { environment, policy, readSettings }: SandboxDeps,
  spec: Pick<BatchTaskSpec, 'mode' | 'env' | 'secrets' | 'allowedTools' | 'disallowedTools'>,
  { cwd, mirror }: { readonly cwd: string; readonly mirror: string | undefined },
) {
  const loaded = await readSettings({
    cwd,
    policy: createTaskManagedSettings(policy, spec),
    settings: createTaskRunSettings(policy, spec, mirror),
  });
  const variables = createTaskCheckEnvironment(environment, spec);
  const source = createPermissionPolicySource({
    options: { allowedTools: spec.allowedTools, disallowedTools: spec.disallowedTools, addDirs: [] },
    environment,
    cwd,
    trusted: false,
    getLoadedSettings: () => loaded,
    getLive: () => ({ mode: 'dontAsk', grants: [], directories: [] }),
    canBypass: false,
  });
  const getSettings = () => loaded.merged.sandbox ?? {};
  const decideHost = createNetworkGate({
    getSettings,
    getPolicy: source.getPolicy,
    canAsk: false,
    askUser: async () => ({ behavior: 'deny' }),
    rememberRules: async () => undefined,
    changeMode: () => undefined,
    newId: randomUUID,
  });
  const listAllowedDomains = () => getSettings().allowedDomains ?? [];
  const sandbox = createSandbox({
    environment: { ...environment, variables },
    cwd,
    now: Date.now,
    getSettings: () => loaded.merged,
    getRoots: source.getRoots,
    // A check has no session whose large outputs it could read.
    sessionFolder: join(environment.ouroHome, 'fleet', 'no-session'),
    network: createLazyNetwork((plan, program) =>
      openSandboxNetwork({ environment, decideHost, listAllowedDomains }, plan, program),
    ),
    getDeniedPaths: (use) => listDeniedPaths(source.getUnsandboxedPolicy(cwd), use),
    takeOpenedPaths: () => [],
  });
  const state = sandbox.getState();
  return {
    /** The reason why the sandbox that the task needs is not available; `undefined` if it is, or if the task needs none. */
    problem: state.is === 'unavailable' ? state.problem : undefined,
    /** Runs a command line in a shell, with the variables of the task only. */
    async run(line: string, options: Pick<RunProgramOptions, 'timeoutMs' | 'signal'>): Promise<ProgramResult> {
      const id = randomUUID();
      const wrap = await sandbox.wrap({ id, command: line, cwd });
      const command = wrap === undefined ? line : `exec ${wrap(['/bin/sh', '-c', line]).map(quoteForShell).join(' ')}`;
      try {
        return await runShellCommand('sh', command, {
          cwd,
          env: variables,
          killSignal: 'SIGTERM',
          check: startUnchecked,
          use: 'writes',
          ...options,
        });
      } finally {
        sandbox.cleanUp('exited', id);
        sandbox.cleanUp('over', id);
      }
    },
    close: () => sandbox.close(),
  };
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Formats why a task that needs the sandbox does not start. */
export const describeMissingSandbox = (problem: string): string =>
  `commands must run in a sandbox, which is not available on this machine: ${problem}`;

/** Returns why this machine cannot have the sandbox that its policy requires; `undefined` if it can, or needs none. */
export async function findTaskSandboxProblem(deps: SandboxDeps): Promise<string | undefined> {
  const spec = { mode: 'default', env: [], allowedTools: [], disallowedTools: [] };
  const sandbox = await openTaskSandbox(deps, spec, { cwd: deps.environment.ouroHome, mirror: undefined });
  sandbox.close();
  return sandbox.problem;
}
