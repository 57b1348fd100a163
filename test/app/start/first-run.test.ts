import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { openFirstRun, settleFirstRun } from '../../../src/app/start/first-run.ts';
import type { Environment } from '../../../src/contracts/environment.ts';
import type { RunOptions } from '../../../src/contracts/face/run-options.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { runOptions } from '../../support/run-options.ts';
import { createTempProject } from '../../support/temp-project.ts';

const NOW = { trust: 'no', model: { kind: 'as_found' }, takeOver: 'open', typed: '' } as const;

async function firstRunQuestion(run: RunOptions, places: Environment) {
  const first = await openFirstRun(run, places);
  return first.state === 'asking' ? first.question : undefined;
}

test('a run without questions is agreed to once, by flag or by setting; a no asks as usual', async () => {
  await using project = await createTempProject();
  const places = readEnvironment({ ...bareEnvironment(project, 'http://127.0.0.1:9'), IS_SANDBOX: '1' });
  const run = (more: Partial<RunOptions>) => runOptions({ cwd: project.dir, face: 'screen', ...more });
  const flagged = run({ skipPermissions: 'now' });
  expect(await firstRunQuestion(run({}), places)).toBeUndefined();
  const question = await firstRunQuestion(flagged, places);
  if (question === undefined) throw new Error('Nobody was asked.');
  expect(question.bypass).toBe('unconfirmed');
  expect(await firstRunQuestion(run({ permissionMode: 'bypassPermissions' }), places)).toEqual(question);
  // Who may not skip questions is refused later, and not asked now.
  expect(await firstRunQuestion(flagged, { ...places, isSandbox: process.getuid?.() !== 0 })).toEqual(
    process.getuid?.() === 0 ? undefined : question,
  );

  const asking = await settleFirstRun(question, { ...NOW, bypass: 'no' }, flagged, places);
  expect(asking).toEqual(run({ permissionMode: 'default' }));
  const settings = { permissions: { defaultMode: 'bypassPermissions' } };
  await mkdir(places.ouroHome, { recursive: true });
  await writeFile(join(places.ouroHome, 'settings.json'), JSON.stringify(settings));
  expect(await firstRunQuestion(run({}), places)).toEqual(question);

  expect(await settleFirstRun(question, { ...NOW, bypass: 'yes' }, flagged, places)).toEqual(flagged);
  expect(await firstRunQuestion(flagged, places)).toBeUndefined();
  expect(await firstRunQuestion(run({}), places)).toBeUndefined();
  expect((await stat(join(places.ouroHome, 'bypass-agreed.json'))).mode & 0o777).toBe(0o600);
  // What cannot be read was not agreed to.
  await writeFile(join(places.ouroHome, 'bypass-agreed.json'), '');
  expect(await firstRunQuestion(flagged, places)).toEqual(question);
  await settleFirstRun(question, { ...NOW, bypass: 'yes' }, flagged, places);
  expect(await firstRunQuestion(flagged, places)).toBeUndefined();
});
