import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
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

test.each([
  ['sk-ant-api03-abc', 'anthropic', undefined],
  ['sk-proj-abc', 'openai', 'openai/gpt-6.1-sol'],
  [`sk-${'a'.repeat(20)}T3BlbkFJ${'b'.repeat(20)}`, 'openai', 'openai/gpt-6.1-sol'],
  ['AIzaSyAbc', 'gemini', 'gemini/gemini-3.8-flash'],
  ['sk-or-v1-abc', 'openrouter', 'openrouter/anthropic/claude-sonnet-5.5'],
  ['gsk_abc', 'groq', 'groq/openai/gpt-oss-120b'],
  ['xai-abc', 'xai', 'xai/grok-4.7'],
  [`sk-${'0123456789abcdef'.repeat(2)}`, 'deepseek', 'deepseek/deepseek-v4-pro'],
  ['of-nobody-we-know', 'anthropic', undefined],
])(
  'a pasted key is kept for the place that it belongs to, and its model is begun with: %s',
  async (key, place, model) => {
    await using project = await createTempProject();
    const surroundings = { ...bareEnvironment(project), PATH: '/nowhere' };
    const places = readEnvironment(surroundings);
    const run = runOptions({ cwd: project.dir, face: 'screen' });
    const question = await firstRunQuestion(run, places);
    if (question === undefined) throw new Error('Nobody was asked.');
    const settled = await settleFirstRun(
      question,
      { ...NOW, model: { kind: 'key', key }, bypass: 'open' },
      run,
      places,
    );
    expect(settled.model).toBe(model);
    expect(JSON.parse(await readFile(join(places.ouroHome, 'keys.json'), 'utf8'))).toMatchObject({
      [place]: key,
    });
    expect(await firstRunQuestion(run, places)).toBeUndefined();
  },
);
