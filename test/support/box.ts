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

export type Box = {
  readonly sandbox: Sandbox;
  /** Runs a command in it, to its end: what it printed, errors too, and what the model is told besides. */
  run(command: string): Promise<string>;
};

export type BoxOptions = {
  readonly settings?: SandboxSettings;
  readonly env?: Readonly<Record<string, string>>;
  /** Rules that deny. */
  readonly deny?: readonly string[];
  readonly roots?: readonly string[];
  /** Places that were opened to each command. */
  readonly opens?: readonly string[];
  /** Which hosts may be reached; asked where the settings leave the network out. */
  readonly decide?: SandboxNetworkDeps['decideHost'];
  /** Where names lead. */
  readonly names?: Readonly<Record<string, string>>;
};

/** A box of this project, as conversations have it. */
export async function boxIn(
  project: TempProject,
  {
    settings = { network: false },
    env = {},
    roots = [project.dir],
    decide: decideHost = refuseAll,
    names,
    deny = [],
    opens = [],
  }: BoxOptions = {},
): Promise<Box> {
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
  const getDeniedPaths = (use: 'read' | 'write') => listDeniedPaths(policyWith(project, deny), use);
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

const refuseAll = async () => ({ ok: false, why: 'nobody is asked in this test' }) as const;

const tried = spawnSync(
  '/usr/bin/env',
  ['bwrap', '--ro-bind', '/', '/', '--unshare-net', '--unshare-pid', '/bin/true'],
  {
    encoding: 'utf8',
  },
);

/** Why no box can be had on this machine, in a sentence; `undefined` when one can. */
export const NO_BOX =
  tried.status === 0
    ? undefined
    : `bubblewrap does not work here (${tried.error?.message ?? tried.stderr.trim()}), so what needs it is left out.`;

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
