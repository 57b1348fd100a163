import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readEnvironment } from '../../src/app/environment.ts';
import type { Policy } from '../../src/contracts/permission.ts';
import type { SandboxSettings } from '../../src/contracts/settings.ts';
import { parseRuleTexts } from '../../src/permissions/rules/parse-rule.ts';
import { listDeniedPaths } from '../../src/sandbox/create-plan.ts';
import { createLazyNetwork, openSandboxNetwork } from '../../src/sandbox/network/lazy-network.ts';
import type { SandboxNetworkDeps } from '../../src/sandbox/network/sandbox-network.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { testCore } from './core.ts';
import type { TempProject } from './temp-project.ts';

export type TestSandbox = {
  readonly sandbox: Sandbox;
  /** Runs a command in the sandbox; returns its output and errors, and the notes for the model. */
  run(command: string): Promise<string>;
};

export type TestSandboxOptions = {
  readonly settings?: SandboxSettings;
  readonly env?: Readonly<Record<string, string>>;
  /** Deny rules. */
  readonly deny?: readonly string[];
  /** Programs that ouro starts as they were approved. */
  readonly frozen?: readonly string[];
  readonly roots?: readonly string[];
  /** Paths opened for each command. */
  readonly opens?: readonly string[];
  /** Decides about hosts that the settings do not mention. */
  readonly decide?: SandboxNetworkDeps['decideHost'];
  /** Addresses by host name. */
  readonly names?: Readonly<Record<string, string>>;
};

/** Creates the sandbox of a project with the parts that conversations use. */
export async function createTestSandbox(
  project: TempProject,
  {
    settings = { network: false },
    env = {},
    roots = [project.dir],
    decide: decideHost = refuseAll,
    names,
    deny = [],
    frozen: frozenPaths = [],
    opens = [],
  }: TestSandboxOptions = {},
): Promise<TestSandbox> {
  const environment = readEnvironment({
    HOME: project.home,
    OURO_HOME: project.ouroHome,
    PATH: process.env.PATH,
    ...env,
  });
  const core = await testCore(project, { environment });
  const resolve = names === undefined ? {} : { resolve: resolver(names) };
  const listAllowedDomains = () => settings.allowedDomains ?? [];
  const network = createLazyNetwork((plan, bwrap) =>
    openSandboxNetwork({ environment, decideHost, listAllowedDomains, ...resolve }, plan, bwrap),
  );
  const getDeniedPaths = (use: 'read' | 'write') => listDeniedPaths({ ...policyWith(project, deny), frozenPaths }, use);
  const takeOpenedPaths = () => opens;
  const sessionFolder = join(project.ouroHome, 's');
  const sandbox = createSandbox({
    ...{ environment, cwd: core.cwd, now: core.now, sessionFolder, network, getDeniedPaths, takeOpenedPaths },
    getSettings: () => ({ sandbox: { enabled: true, ...settings } }),
    getRoots: () => roots,
  });
  return {
    sandbox,
    async run(command) {
      const id = randomUUID();
      const wrap = await sandbox.wrap({ id, command, cwd: project.dir });
      const [file = '', ...args] = wrap?.(['/bin/bash', '--noprofile', '--norc', '-c', command]) ?? [];
      const printed = await outputOf(file, args, { cwd: roots[0], env: { ...environment.variables } });
      sandbox.cleanUp('exited', id);
      sandbox.cleanUp('over', id);
      return [printed, ...sandbox.describeBlocked(id, printed.split('\n'))].join('');
    },
  };
}

const resolver = (names: Readonly<Record<string, string>>) => async (host: string) => {
  const address = names[host];
  return address === undefined ? [] : [address];
};

function policyWith({ dir, home }: TempProject, deny: readonly string[]): Policy {
  return {
    ...{ mode: 'default', workspaceRoots: [dir], cwd: dir, home, trusted: true, canBypass: false, protectedPaths: [] },
    ...{ sensitivePaths: [], searchPath: [], disk: 'case-sensitive' },
    rules: parseRuleTexts(deny, 'deny', { source: 'flag', root: dir }),
  };
}

const refuseAll = async () => ({ ok: false, problem: 'nobody is asked in this test' }) as const;

const tried = spawnSync(
  '/usr/bin/env',
  ['bwrap', '--ro-bind', '/', '/', '--unshare-net', '--unshare-pid', '/bin/true'],
  {
    encoding: 'utf8',
  },
);

/** The reason why the sandbox does not work on this machine; `undefined` if it does. */
export const NO_SANDBOX =
  tried.status === 0
    ? undefined
    : `bubblewrap does not work here (${tried.error?.message ?? tried.stderr.trim()}), so tests that need it are skipped.`;

function outputOf(file: string, args: readonly string[], options: { cwd: string | undefined; env: NodeJS.ProcessEnv }) {
  return new Promise<string>((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    child.on('error', reject).on('close', () => resolve(printed));
  });
}
