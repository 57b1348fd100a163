import { readdir } from 'node:fs/promises';
import { expect } from 'vitest';
import type { SeenRequest } from '../support/api/dialect.ts';
import { calls, delayed, says, toolUse } from '../support/api/reply.ts';
import { gate, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { runOuro } from '../support/run-ouro.ts';
import { partOf } from '../support/runs.ts';
import { replayAll, storedFiles } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const NUMBERS = [1, 2, 3, 4, 5];
const FLAGS = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'];

/** Counts how often a text is in another. */
const count = (text: string, part: string) => text.split(part).length - 1;

async function listLocks({ ouroHome }: TempProject): Promise<readonly string[]> {
  return (await readdir(ouroHome, { recursive: true })).filter((name) => /\.lock$/.test(name));
}

/** Each session writes and edits a file of its own; the first replies wait for all the others. */
function sessionModel(beginsWith: (number: number) => Promise<void>) {
  return ({ raw }: SeenRequest) => {
    const number = Number(/I am session (\d)/.exec(raw)?.[1]);
    const file = `own-${number}.txt`;
    const edit = (from: number) =>
      toolUse('Edit', { file_path: file, old_string: `state ${from}`, new_string: `state ${from + 1}` });
    switch (count(raw, '"type":"tool_result"')) {
      case 0:
        return delayed(beginsWith(number), calls(toolUse('Write', { file_path: file, content: 'state 0\n' })));
      case 1:
        return calls(edit(0), toolUse('Bash', { command: `echo ${number} >>log`, description: 'Log' }));
      case 3:
        return calls(toolUse('Read', { file_path: file }), edit(1));
      default:
        return says(`Session ${number} is done.`);
    }
  };
}

longTest('five sessions in one checkout end well, each with its whole file and no lock left', async () => {
  await using project = await createTempProject();
  await project.initGit();
  const { closed, open } = gate();
  const arrived = new Set<number>();
  await using server = await startApiServer({
    turns: sessionModel((number) => {
      arrived.add(number);
      if (arrived.size === NUMBERS.length) open();
      return closed;
    }),
  });
  const ends = NUMBERS.map((number) => runOuro(project, ['-p', `I am session ${number}.`, ...FLAGS], server.url));
  expect((await Promise.all(ends)).map(({ code, stdout }) => ({ code, stdout }))).toEqual(
    NUMBERS.map((number) => ({ code: 0, stdout: `Session ${number} is done.\n` })),
  );
  expect(server.all().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  expect(await Promise.all(NUMBERS.map((number) => project.read(`own-${number}.txt`)))).toEqual(
    NUMBERS.map(() => 'state 2\n'),
  );
  expect((await project.read('log')).trim().split('\n').toSorted()).toEqual(NUMBERS.map(String));
  const said = (await storedFiles(project)).map(({ records }) => JSON.stringify(records));
  expect(said).toHaveLength(NUMBERS.length);
  for (const number of NUMBERS) {
    const own = said.filter((one) => one.includes(`I am session ${number}.`));
    expect(own).toHaveLength(1);
    expect(count(own[0] ?? '', `"Session ${number} is done."`)).toBe(1);
    expect(count(own[0] ?? '', '"type":"tool_result"')).toBe(5);
  }
  expect(await replayAll(project)).toMatchObject({ different: [] });
  expect(await listLocks(project)).toEqual([]);
  await expectNoProcessesLeft(project.marker);
});

const STARTS: readonly (readonly [string, (id: string) => readonly string[]])[] = [
  ['by its id', (id) => ['--resume', id]],
  ['as the last one', () => ['--continue']],
  ['as a fork', (id) => ['--resume', id, '--fork-session']],
];

/** A copy may hold the prompt that the other process has just been given. */
const answerOf = (raw: string) =>
  raw.lastIndexOf('left, at once') > raw.lastIndexOf('right, at once') ? 'Left answer.' : 'Right answer.';

longTest.each(
  partOf(
    STARTS.flatMap(([first, one]) => STARTS.map(([second, two]) => ({ first, second, one, two }))),
    4,
  ),
)('a session resumed twice at once, $first and $second, loses nothing of either', async ({ one, two }) => {
  await using project = await createTempProject();
  const { closed, open } = gate();
  let waiting = 0;
  await using server = await startApiServer({
    turns({ raw }) {
      if (!raw.includes('at once')) return says('The beginning.');
      waiting += 1;
      if (waiting === 2) open();
      return delayed(closed, says(answerOf(raw)));
    },
  });
  expect(await runOuro(project, ['-p', 'begin'], server.url)).toMatchObject({ code: 0 });
  const id = (await storedFiles(project))[0]?.id ?? '';
  const ends = await Promise.all([
    runOuro(project, ['-p', ...one(id), 'left, at once'], server.url),
    runOuro(project, ['-p', ...two(id), 'right, at once'], server.url),
  ]);
  expect(ends.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
    { code: 0, stdout: 'Left answer.\n' },
    { code: 0, stdout: 'Right answer.\n' },
  ]);
  const notices = ends.filter(({ stderr }) => stderr.includes('open in another ouro process'));
  const said = (await storedFiles(project)).map(({ records }) => JSON.stringify(records));
  const isFork = (args: readonly string[]) => args.includes('--fork-session');
  expect(notices).toHaveLength(isFork(one(id)) || isFork(two(id)) ? 0 : 1);
  expect(said).toHaveLength(isFork(one(id)) && isFork(two(id)) ? 3 : 2);
  for (const [prompt, answer] of [
    ['left, at once', 'Left answer.'],
    ['right, at once', 'Right answer.'],
  ] as const) {
    const own = said.filter((text) => text.includes(`"${answer}"`));
    expect(own).toHaveLength(1);
    expect(own[0]).toMatch(new RegExp(`begin[\\s\\S]*The beginning\\.[\\s\\S]*${prompt}`));
    expect(count(own[0] ?? '', `"${answer}"`)).toBe(1);
  }
  expect(await listLocks(project)).toEqual([]);
});
