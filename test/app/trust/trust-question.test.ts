import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { loadFirstRunQuestions } from '../../../src/app/setup/first-run.ts';
import { trustFolder } from '../../../src/app/trust/manage-folder-trust.ts';
import { buildTrustQuestion, saveTrustAnswer } from '../../../src/app/trust/trust-question.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { runOptions } from '../../support/run-options.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const SETTINGS = '.claude/settings.json';
const HOOK = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'make evil' }] }] } });
const allowing = (...rules: readonly string[]) => JSON.stringify({ permissions: { allow: rules } }, null, 1);

const readPlaces = (project: TempProject) => readEnvironment(bareEnvironment(project, 'http://127.0.0.1:9'));

/** The questions of an interactive start in a project. */
async function readQuestions(project: TempProject) {
  const first = await loadFirstRunQuestions(runOptions({ cwd: project.dir, frontend: 'screen' }), readPlaces(project));
  return first.state === 'asking' ? first.question : undefined;
}

/** The questions of an interactive start that has some. */
async function readShownQuestions(project: TempProject) {
  const questions = await readQuestions(project);
  if (questions === undefined) throw new Error('There was no question.');
  return questions;
}

test('content that changed after its approval is asked about, with its line', async () => {
  await using project = await createTempProject({ [SETTINGS]: '{}' });
  await trustFolder(project.dir, 'folder', readPlaces(project));
  expect(await buildTrustQuestion(project.dir, readPlaces(project))).toBeUndefined();
  await project.write(SETTINGS, allowing('Bash'));
  expect(await buildTrustQuestion(project.dir, readPlaces(project))).toMatchObject({
    question: { state: 'changed', effects: [{ kind: 'rule', text: 'allows Bash', line: 4 }] },
  });
});

test('a folder below a trusted one is not asked about', async () => {
  await using project = await createTempProject({ [`sub/${SETTINGS}`]: allowing('Bash') });
  const sub = join(project.dir, 'sub');
  expect(await buildTrustQuestion(sub, readPlaces(project))).toMatchObject({ question: { state: 'new' } });
  await trustFolder(project.dir, 'below', readPlaces(project));
  expect(await buildTrustQuestion(sub, readPlaces(project))).toBeUndefined();
});

test('a change at the moment of the answer was not shown and is treated as a change', async () => {
  await using project = await createTempProject({ '.claude/commands/fine.md': 'fine' });
  await saveTrustAnswer(await readShownQuestions(project), { trust: 'folder' }, readPlaces(project));
  await project.write(SETTINGS, HOOK);
  expect(await buildTrustQuestion(project.dir, readPlaces(project))).toMatchObject({ question: { state: 'changed' } });
});

test('a yes about trust counts although the next question was left, unless the folder changed meanwhile', async () => {
  await using project = await createTempProject({ '.claude/commands/fine.md': 'fine', '.git/HEAD': 'x' });
  const environment = readPlaces(project);
  const questions = await readShownQuestions(project);
  await saveTrustAnswer(questions, { trust: 'no' }, environment);
  expect((await readQuestions(project))?.trust).toMatchObject({ state: 'new' });
  await project.write(SETTINGS, HOOK);
  expect(await saveTrustAnswer(questions, { trust: 'folder' }, environment)).toMatchObject({
    state: 'changed-meanwhile',
  });
  const shown = await readShownQuestions(project);
  expect(await saveTrustAnswer(shown, { trust: 'folder' }, environment)).toBeUndefined();
  expect((await readQuestions(project))?.trust).toBeUndefined();
});
