import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { loadFirstRunQuestions, saveFirstRunAnswers } from '../../../src/app/setup/first-run.ts';
import { loadFolderTrust } from '../../../src/app/trust/folder-trust.ts';
import type { Environment } from '../../../src/contracts/environment.ts';
import type { CliRunOptions } from '../../../src/contracts/frontend/cli-run-options.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { runOptions } from '../../support/run-options.ts';
import { someOf } from '../../support/runs.ts';
import { createTempProject } from '../../support/temp-project.ts';

const NOW = { trust: 'no', model: { kind: 'as_found' }, takeOver: 'open', typed: '' } as const;

async function firstRunQuestion(run: CliRunOptions, places: Environment) {
  const first = await loadFirstRunQuestions(run, places);
  return first.state === 'asking' ? first.question : undefined;
}

test('bypass mode is confirmed once, by flag or by setting; a refusal falls back to asking', async () => {
  await using project = await createTempProject();
  const places = readEnvironment({ ...bareEnvironment(project, 'http://127.0.0.1:9'), IS_SANDBOX: '1' });
  const run = (more: Partial<CliRunOptions>) => runOptions({ cwd: project.dir, frontend: 'screen', ...more });
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

  const asking = await saveFirstRunAnswers(question, { ...NOW, bypass: 'no' }, flagged, places);
  expect(asking).toEqual({ state: 'ready', run: run({ permissionMode: 'default' }) });
  const settings = { permissions: { defaultMode: 'bypassPermissions' } };
  await mkdir(places.ouroHome, { recursive: true });
  await writeFile(join(places.ouroHome, 'settings.json'), JSON.stringify(settings));
  expect(await firstRunQuestion(run({}), places)).toEqual(question);

  expect(await saveFirstRunAnswers(question, { ...NOW, bypass: 'yes' }, flagged, places)).toEqual({
    state: 'ready',
    run: flagged,
  });
  expect(await firstRunQuestion(flagged, places)).toBeUndefined();
  expect(await firstRunQuestion(run({}), places)).toBeUndefined();
  expect((await stat(join(places.ouroHome, 'bypass-agreed.json'))).mode & 0o777).toBe(0o600);
  // What cannot be read was not agreed to.
  await writeFile(join(places.ouroHome, 'bypass-agreed.json'), '');
  expect(await firstRunQuestion(flagged, places)).toEqual(question);
  await saveFirstRunAnswers(question, { ...NOW, bypass: 'yes' }, flagged, places);
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
])('a pasted key is stored for its provider, and its model is used: %s', async (key, place, model) => {
  await using project = await createTempProject();
  const surroundings = { ...bareEnvironment(project), PATH: '/nowhere' };
  const places = readEnvironment(surroundings);
  const run = runOptions({ cwd: project.dir, frontend: 'screen' });
  const question = await firstRunQuestion(run, places);
  if (question === undefined) throw new Error('Nobody was asked.');
  const settled = await saveFirstRunAnswers(
    question,
    { ...NOW, model: { kind: 'key', key }, bypass: 'open' },
    run,
    places,
  );
  expect(settled).toMatchObject({ state: 'ready', run: model === undefined ? {} : { model } });
  expect(JSON.parse(await readFile(join(places.ouroHome, 'keys.json'), 'utf8'))).toMatchObject({
    [place]: key,
  });
  expect(await firstRunQuestion(run, places)).toBeUndefined();
});

/** What a project may bring that is shown, by the file it stands in. */
const POWERS = {
  'a hook': [
    '.claude/settings.json',
    JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'make evil' }] }] } }),
  ],
  'a rule of mine alone': ['.claude/settings.local.json', JSON.stringify({ permissions: { allow: ['Bash(make:*)'] } })],
  'a variable': ['.claude/settings.json', JSON.stringify({ env: { APP_EVIL: 'make' } })],
  'a command that may run something': ['.claude/commands/evil.md', '---\nallowed-tools: Bash(make:*)\n---\nevil'],
  'a hook of a skill': [
    '.claude/skills/evil/SKILL.md',
    '---\nname: evil\ndescription: x\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: make evil\n---\nx',
  ],
  'a file outside': ['CLAUDE.md', 'Read @../../outside.md'],
  'settings of a folder above': ['../.claude/settings.json', JSON.stringify({ permissions: { allow: ['Bash'] } })],
} as const;

test.each(someOf(Object.keys(POWERS) as readonly (keyof typeof POWERS)[], 2))(
  'trusting applies to what was shown: %s that appeared while the question was open is asked about',
  async (name) => {
    await using project = await createTempProject({ '.git/HEAD': 'ref: refs/heads/main\n' });
    await project.write('pkg/.claude/commands/fine.md', 'fine');
    await project.write('../outside.md', 'OUTSIDE');
    const dir = join(project.dir, 'pkg');
    const places = readEnvironment({ ...bareEnvironment(project, 'http://127.0.0.1:9') });
    const run = runOptions({ cwd: dir, frontend: 'screen' });
    const question = await firstRunQuestion(run, places);
    if (question?.trust === undefined) throw new Error('Nobody was asked.');
    const [file, text] = POWERS[name];
    const yes = { ...NOW, trust: 'folder', bypass: 'open' } as const;

    await project.write(join('pkg', file), text);
    const again = await saveFirstRunAnswers(question, yes, run, places);
    expect(again).toMatchObject({ state: 'asking', question: { trust: { state: 'changed-meanwhile' } } });
    expect((await loadFolderTrust(dir, places, undefined)).isTrusted).toBe(false);
    if (again.state !== 'asking') return;
    expect(again.question.trust?.effects.length).toBeGreaterThan(question.trust.effects.length);

    expect(await saveFirstRunAnswers(again.question, yes, run, places)).toEqual({ state: 'ready', run });
    expect((await loadFolderTrust(dir, places, undefined)).isTrusted).toBe(true);
    expect(await firstRunQuestion(run, places)).toBeUndefined();
  },
);

test('a user who excludes all project sources is not asked about the folder', async () => {
  await using project = await createTempProject({ 'CLAUDE.md': 'x', '.git/HEAD': 'ref: refs/heads/main\n' });
  const places = readEnvironment({ ...bareEnvironment(project, 'http://127.0.0.1:9') });
  const asked = async (settingSources: readonly string[] | undefined) => {
    const run = runOptions({
      cwd: project.dir,
      frontend: 'screen',
      ...(settingSources === undefined ? {} : { settingSources }),
    });
    return (await firstRunQuestion(run, places))?.trust !== undefined;
  };
  expect(await Promise.all([undefined, [], ['user'], ['project'], ['local']].map(asked))).toEqual([
    true,
    false,
    false,
    true,
    true,
  ]);
});
