import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import { findTaskSignatureProblem, signBatchTask } from '../../src/worker/task-signature.ts';
import { stormTasks } from '../support/fleet-storm.ts';

const run = promisify(execFile);

test('a task is accepted only with a valid signature over its exact content', async () => {
  await using project = await createTempProject();
  const key = join(project.dir, 'key');
  const stranger = join(project.dir, 'stranger');
  for (const file of [key, stranger]) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  const allowed = join(project.dir, 'allowed_signers');
  await writeFile(allowed, `me@here namespaces="ouro-fleet" ${await readFile(`${key}.pub`, 'utf8')}`);
  const [task] = stormTasks(1, 1);
  if (task === undefined) throw new Error('There is no task.');
  const signature = await signBatchTask('b', task, key);
  const problem = (batch: string, one: typeof task, by: string | undefined) =>
    findTaskSignatureProblem(batch, { ...one, signature: by }, allowed);
  expect(await problem('b', task, signature)).toBeUndefined();
  expect(
    await problem('b', { ...task, spec: { ...task.spec, minutes: 5, prompt: task.spec.prompt } }, signature),
  ).toBeUndefined();
  expect(await problem('b', { ...task, spec: { ...task.spec, prompt: 'something else' } }, signature)).toContain(
    'changed after',
  );
  expect(await problem('other', task, signature)).toContain('changed after');
  expect(await problem('b', task, undefined)).toContain('it is not signed');
  expect(await problem('b', task, await signBatchTask('b', task, stranger))).toContain(
    'not signed by an allowed signer',
  );
});
