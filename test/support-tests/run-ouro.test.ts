import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { stallAt } from '../support/api/faults.ts';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment, DEAD_PROXY, terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft, processesMarked } from '../support/processes.ts';
import { LAUNCHER, runOuro, startOuro } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

test('a project has files, a repository, its own home, and is removed afterwards', async () => {
  const project = await createTempProject({ 'src/a.txt': 'alpha\n' });
  await project.initGit();
  await project.write('b.txt', 'beta');
  expect(await project.git('status', '--short')).toBe('?? b.txt\n');
  expect(await project.git('log', '--format=%an %s')).toBe('Test Start\n');
  expect(await project.read('src/a.txt')).toBe('alpha\n');
  const names = Object.keys(bareEnvironment(project)).filter((name) => !Object.hasOwn(DEAD_PROXY, name));
  expect(names.sort()).toEqual([
    'BUN_JSC_useJIT',
    'BUN_RUNTIME_TRANSPILER_CACHE_PATH',
    'HOME',
    'LANG',
    'OURO_HOME',
    'OURO_TEST_MARK',
    'PATH',
    'TMPDIR',
  ]);
  await project.remove();
  await expect(stat(project.dir)).rejects.toThrow('ENOENT');
});

test('ouro runs as its own process, and its lines can be followed', async () => {
  await using project = await createTempProject();
  const ended = await runOuro(project, ['--version']);
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  const running = startOuro(project, ['--version']);
  const lines: string[] = [];
  for await (const line of running.lines()) lines.push(line);
  expect(`${lines.join('\n')}\n`).toBe(ended.stdout);
  await expect(startOuro(project, ['--no-such-flag']).waitForOutput(/never/)).rejects.toThrow(
    'without printing /never/',
  );
  await startOuro(project, ['--no-such-flag']).waitForErrors(/no-such-flag/);
});

test('stdin is passed on, and a removed project ends its running processes', async () => {
  await using server = await startApiServer({
    turns: [says('…', { faults: [stallAt(3, new Promise(() => undefined))] })],
  });
  const project = await createTempProject();
  const args = ['-p', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'];
  const running = startOuro(project, args, server.url, { stdin: 'open' });
  running.sendLine({ type: 'user', message: { role: 'user', content: 'hello there' } });
  expect((await server.waitForRequest(1)).raw).toContain('hello there');
  expect((await processesMarked(project.marker)).map(({ pid }) => pid)).toContain(running.child.pid);
  await project.remove();
  expect((await running.ended).signal).toBe('SIGKILL');
  await expectNoProcessesLeft(project.marker);
});

longTest('the launcher works in a terminal', async () => {
  await using project = await createTempProject();
  await using terminal = openTerminal([LAUNCHER, '--version'], {
    cwd: project.dir,
    env: terminalEnvironment(project, 'http://127.0.0.1:9'),
  });
  expect(await terminal.exited).toEqual({ code: 0, signal: null });
  expect(terminal.screen()[0]).toMatch(/\d+\.\d+\.\d+/);
});
