import { expect } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runOuro } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';

longTest('a command that ends while ouro is stopped has ended, although its time limit has passed', async () => {
  await using project = await createTempProject();
  const command = 'echo $PPID >parent; sleep 4; echo 1 >ended; echo finished';
  const use = toolUse('Bash', { command, timeout: 3_000 });
  await using server = await startApiServer({ turns: [calls(use), says('Done.')] });
  const run = runOuro(project, ['-p', 'hi', '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'], server.url);
  const read = (file: string) => project.read(file).catch(() => '');
  await expect.poll(() => read('parent')).toMatch(/\d\n/);
  const parent = Number(await read('parent'));
  process.kill(parent, 'SIGSTOP');
  await expect.poll(() => read('ended')).toBe('1\n');
  process.kill(parent, 'SIGCONT');
  expect(await run).toMatchObject({ code: 0, stdout: 'Done.\n' });
  const sent = server.requests()[1]?.raw;
  expect(sent).toContain('finished');
  expect(sent).not.toContain('the limit of');
});
