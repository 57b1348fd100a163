import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runShellCommand } from '../../../src/lib/processes/find-shell.ts';
import { killProcessTree, RUN_MARKER } from '../../../src/lib/processes/process-tree.ts';
import { startUnchecked } from '../../../src/lib/processes/program-check.ts';
import { longTest } from '../../support/long-test.ts';
import { livingProcesses } from '../../support/processes.ts';
import { isWholeRun, runs } from '../../support/runs.ts';

const env = { PATH: '/usr/local/bin:/usr/bin:/bin', [RUN_MARKER]: 'run-of-this-test' };
const script = (
  line: string,
  more: Partial<Parameters<typeof runShellCommand>[2]> = {},
  shell: 'sh' | 'bash' = 'bash',
) => runShellCommand(shell, line, { env, timeoutMs: 60_000, check: startUnchecked, use: 'writes', ...more });

const named = async (name: string) => (await livingProcesses()).filter(({ command }) => command.includes(name));

/** Ways to get out of sight; each takes a command and gives one. */
const ESCAPES: readonly ((command: string) => string)[] = [
  (command) => `env -i /bin/bash -c '${command.replaceAll("'", `'\\''`)}'`,
  (command) => `setsid -f /bin/bash -c '${command.replaceAll("'", `'\\''`)}'`,
  (command) => `nohup /bin/bash -c '${command.replaceAll("'", `'\\''`)}' >/dev/null 2>&1`,
  (command) => `( ${command} ) &`,
  (command) => `( ( ${command} & ) & )`,
  (command) => `trap "" TERM HUP INT; ${command}`,
  (command) => `exec -a nginx /bin/bash -c '${command.replaceAll("'", `'\\''`)}'`,
  (command) => `cd / && ${command}`,
  (command) => `while :; do ${command}\n sleep 0.05; done`,
];

test('whatever a script hides is killed when it ends, however it ended', async () => {
  const anyEscapes = fc.array(fc.constantFrom(...ESCAPES), { minLength: 1, maxLength: 4 });
  // Some are ended while they are still hiding.
  const ends = fc.record(
    { timeoutMs: fc.constantFrom(5, 20, 50, 400), killSignal: fc.constant('SIGKILL' as const) },
    { requiredKeys: ['timeoutMs'] },
  );
  await fc.assert(
    fc.asyncProperty(anyEscapes, ends, fc.constantFrom('sh' as const, 'bash' as const), async (escapes, end, shell) => {
      const name = `sleep 7${randomInt(1e9)}`;
      const hidden = escapes.reduce((command, escapeFrom) => escapeFrom(command), name);
      const line = shell === 'sh' ? `/bin/bash -c '${hidden.replaceAll("'", `'\\''`)}'` : hidden;
      await script(`${line}\n`, end, shell);
      expect(await named(name)).toEqual([]);
    }),
    runs(40),
  );
});

longTest('a successful command leaves no process either, and its result is returned', async () => {
  const name = `sleep 8${randomInt(1e9)}`;
  const end = await script(`env -i setsid ${name} >/dev/null 2>&1 & cat; exit 3`, { input: 'words' });
  expect([end.code, String(end.stdout)]).toEqual([3, 'words']);
  expect(await named(name)).toEqual([]);
});

test('a process that forks faster than it is killed is stopped first', async () => {
  const name = `sleep 9${randomInt(1e9)}`;
  // It ends by itself, also where it is not caught: a test must not bring down the machine.
  const bomb = `${name} & for i in $(seq 8); do (for n in $(seq 2000); do sleep 0.01 & done) & done; wait`;
  await script(`(setsid env -i bash -c '${bomb}' &); sleep ${isWholeRun ? 0.3 : 0.1}`);
  expect(await named(name)).toEqual([]);
});

test('processes of other calls and runs are not touched', async () => {
  const name = `sleep 6${randomInt(1e9)}`;
  const stopping = new AbortController();
  const other = script(`env -i setsid ${name} & wait`, {
    signal: stopping.signal,
    env: { ...env, [RUN_MARKER]: 'another' },
  });
  await expect.poll(async () => (await named(name)).length).toBeGreaterThan(0);
  await script('true');
  await killProcessTree({ groupId: -1, marker: 'not this one' }, () => true);
  expect((await named(name)).length).toBeGreaterThan(0);
  stopping.abort();
  await other;
  expect(await named(name)).toEqual([]);
});
