import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { canMountHung, withHungMount } from '../support/hung-mount.ts';
import { LAUNCHER, startProgram } from '../support/run-ouro.ts';
import { isWholeRun } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';

const canMount = isWholeRun && canMountHung();

test.runIf(canMount)('a hung mount in the workspace blocks no command, resume or undo', async () => {
  await using project = await createTempProject({ 'a.txt': 'one\n' });
  const dead = join(project.dir, 'dead');
  await mkdir(dead);
  let turn = 0;
  await using server = await startApiServer({
    turns: () => {
      turn += 1;
      if (turn === 1) return calls(toolUse('Bash', { command: 'echo two > a.txt; make' }));
      return says(turn === 2 ? 'Changed.' : 'Resumed.');
    },
  });
  const ouro = (...args: readonly string[]) =>
    startProgram(project, withHungMount(dead, LAUNCHER, ...args), server.url, { env: { IS_SANDBOX: '1' } }).ended;
  const first = await ouro('-p', 'go', '--dangerously-skip-permissions');
  expect(first).toMatchObject({ code: 0, stdout: 'Changed.\n' });
  expect(first.stderr).toContain('dead (its file system does not answer)');
  expect(await ouro('-p', '--continue', 'more')).toMatchObject({ code: 0, stdout: 'Resumed.\n' });
  expect(await ouro('undo')).toMatchObject({ code: 0 });
  expect(await project.read('a.txt')).toBe('one\n');
});

test.runIf(canMount)('a host that leaves gets the results of calls that lead into a hung mount', async () => {
  await using project = await createTempProject({ 'a.txt': 'alpha\n' });
  const dead = join(project.dir, 'dead');
  await mkdir(dead);
  await symlink('dead/sub', join(project.dir, 'link'));
  const started = [
    toolUse('Read', { file_path: 'dead/x.txt' }),
    toolUse('Read', { file_path: 'dead' }),
    toolUse('Read', { file_path: 'link/x.txt' }),
    toolUse('Grep', { pattern: 'alpha' }),
    toolUse('Grep', { pattern: 'alpha', path: 'link' }),
    toolUse('Glob', { pattern: '**/*.txt' }),
    toolUse('Write', { file_path: 'dead/n.txt', content: 'x' }),
    toolUse('Edit', { file_path: 'link/n.txt', old_string: 'x', new_string: 'y' }),
    toolUse('Bash', { command: 'ls dead', timeout: 1_000 }),
    toolUse('Bash', { command: 'cat a.txt' }),
  ];
  let turn = 0;
  await using server = await startApiServer({
    turns: () => {
      turn += 1;
      return turn === 1 ? calls(...started) : says('Done.');
    },
  });
  const host = ['-p', '--input-format=stream-json', '--output-format=stream-json', '--verbose'];
  await using running = startProgram(
    project,
    withHungMount(dead, LAUNCHER, ...host, '--dangerously-skip-permissions'),
    server.url,
    { env: { IS_SANDBOX: '1' }, stdin: 'open' },
  );
  running.sendLine({ type: 'user', message: { role: 'user', content: 'look at @dead/x.txt and @link/x.txt' } });
  await server.waitForRequest(1);
  running.child.stdin.end();
  expect(await running.ended).toMatchObject({ code: 0 });
  const results = server.requests()[1]?.body.messages?.at(-1)?.content;
  const silent = `is in ${dead}, and its file system does not answer. Go on without it, or ask the user to mount it again.`;
  const leftOut = `Left out, as its file system does not answer: ${dead}.`;
  expect(Array.isArray(results) ? results.map((block) => 'content' in block && block.content) : results).toEqual([
    `dead/x.txt ${silent}`,
    `dead ${silent}`,
    `link/x.txt ${silent}`,
    `a.txt\n\n[1 file ${leftOut}]`,
    `link ${silent}`,
    `a.txt\n\n[${leftOut}]`,
    `dead/n.txt ${silent}`,
    `link/n.txt ${silent}`,
    '[stopped after 1s: the limit of 1s is reached]',
    'alpha',
  ]);
  expect(running.stdout()).toContain(
    `@dead/x.txt is not attached: it is in ${dead}, and its file system does not answer.`,
  );
});
