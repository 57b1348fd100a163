import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '../../src/app/environment.ts';
import type { Decision, Policy } from '../../src/contracts/permission.ts';
import { createPrivateTmp } from '../../src/sandbox/private-tmp.ts';
import { createReadOnlySandbox } from '../../src/sandbox/read-only/read-only-sandbox.ts';
import { WAIT_MS } from '../support/runs.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { type Fixture, policyFor } from './fixture.ts';

/** A decision, its policy, and the variables that the command gets besides. */
type Run = {
  readonly decision: Decision;
  readonly policy: Policy;
  readonly path?: string;
  readonly functions?: Readonly<Record<string, string>>;
};

/** Returns a function that runs allowed command lines where they would run: limited to reading, or as they are. */
export function createDecidedRuns(fixture: Fixture) {
  let current = policyFor(fixture);
  const ouroHome = join(fixture.home, '.ouro');
  const sandbox = createReadOnlySandbox({
    environment: readEnvironment({ HOME: fixture.home, OURO_HOME: ouroHome, PATH: process.env.PATH }),
    sessionFolder: join(ouroHome, 's'),
    getPolicy: () => current,
    privateTmp: createPrivateTmp(Date.now, { parent: createTempFolder() }),
    now: Date.now,
  });

  return (command: string, { decision: { enforce }, policy, path = '/usr/bin:/bin', functions = {} }: Run) => {
    const shell = ['/bin/bash', '--noprofile', '--norc', '-c', command];
    const options = { cwd: policy.cwd, timeout: WAIT_MS, input: '', encoding: 'utf8' } as const;
    const own = { PATH: path, ...functions };
    if (enforce === undefined) return spawnSync('/usr/bin/env', shell, { ...options, env: own });
    current = policy;
    const { readable, hidden } = enforce;
    const {
      wrap,
      wrapperFile = '/dev/null',
      variables,
    } = sandbox.prepare({
      ...{ command, cwd: policy.cwd, readable, hidden },
    });
    const [file = '', ...args] = wrap(shell);
    const filter = openSync(wrapperFile, 'r');
    const stdio: ('pipe' | 'ignore' | number)[] = ['pipe', 'pipe', 'pipe', 'ignore', filter];
    const result = spawnSync(file, args, { ...options, env: { ...variables, ...own }, stdio });
    closeSync(filter);
    return result;
  };
}
