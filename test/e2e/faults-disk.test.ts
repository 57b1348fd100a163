import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { startHostProcess } from '../support/json-host.ts';
import { LAUNCHER, runOuro, startProgram } from '../support/run-ouro.ts';
import { isWholeRun, partOf } from '../support/runs.ts';
import { replayAll, storedFile } from '../support/stored-sessions.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const FAULTS = join(createTempFolder(), 'io-faults');

/** Compiles the program that makes writes fail; false where there is no compiler or the system cannot ask about calls. */
function canInject(): boolean {
  const source = join(import.meta.dirname, '../support/io-faults.c');
  if (spawnSync('gcc', ['-O1', '-o', FAULTS, source]).status !== 0) return false;
  return spawnSync(FAULTS, ['5', 'write', '/none/', '/none/switch', 'true']).status === 0;
}

const faultTest = test.runIf(isWholeRun && canInject());

const CODES = ['EIO', 'ENOSPC', 'EDQUOT'] as const;
type Fault = { readonly code: (typeof CODES)[number]; readonly call: 'write' | 'sync' };
const ALL_FAULTS: readonly Fault[] = CODES.flatMap((code) =>
  (['write', 'sync'] as const).map((call) => ({ code, call })),
);

/** The disk of all files whose path has a part. */
function createDisk(project: TempProject, { code, call }: Fault, part: string) {
  const file = join(project.home, 'disk-fails');
  return {
    wrapper: [FAULTS, String(constants.errno[code]), call, part, file],
    fail: () => writeFile(file, ''),
    work: () => rm(file),
  };
}

const NUMBERS = ['one', 'two', 'three'];
const answerOf = (raw: string) => `Answer ${NUMBERS.findLast((number) => raw.includes(`prompt ${number}.`))}.`;

faultTest.each(
  partOf(
    ALL_FAULTS.flatMap((fault) => [0, 1].flatMap((from) => [2, 3].map((until) => ({ ...fault, from, until })))),
    5,
  ),
)('$code on $call of the session file, from prompt $from until $until: nothing is lost', async (fault) => {
  await using project = await createTempProject();
  await using server = await startApiServer({
    turns: ({ raw }) => says(raw.includes('and then?') ? 'Then.' : answerOf(raw)),
  });
  const disk = createDisk(project, fault, '/.ouro/projects/');
  const host = startHostProcess(project, [], server.url, { wrapper: disk.wrapper });
  for (const [index, number] of NUMBERS.entries()) {
    if (index === fault.from) await disk.fail();
    if (index === fault.until) await disk.work();
    host.say(`prompt ${number}.`);
    await host.waitFor(({ type, result }) => type === 'result' && result === `Answer ${number}.`);
  }
  expect(await host.end()).toBe(0);
  const { stderr } = await host.ended;
  const reported = `${JSON.stringify(host.received())}${stderr}`;
  // It says why and which file, and where the lines are meanwhile.
  expect(reported).toMatch(new RegExp(`could not be saved \\(${fault.code}: [^)]*\\)[^"]*/projects/[^"]*\\.jsonl`));
  expect(reported).toMatch(/Meanwhile the session is kept in [^"]*\.jsonl/);
  if (fault.until === 3) await disk.work();
  const id = String(host.received().find(({ session_id: found }) => found !== undefined)?.session_id);
  expect(await runOuro(project, ['-p', '--resume', id, 'and then?'], server.url)).toMatchObject({ code: 0 });
  const text = JSON.stringify(server.requests().at(-1)?.body.messages);
  for (const number of NUMBERS) {
    expect(text.split(`prompt ${number}.`)).toHaveLength(2);
    expect(text.split(`"Answer ${number}."`)).toHaveLength(2);
  }
  const { records } = await storedFile(project);
  const answers = records.filter(({ type }) => type === 'assistant').map((record) => JSON.stringify(record));
  for (const number of NUMBERS) expect(answers.filter((one) => one.includes(`"Answer ${number}."`))).toHaveLength(1);
  expect(await replayAll(project)).toMatchObject({ different: [] });
});

faultTest.each(partOf(ALL_FAULTS, 3))(
  '$code on $call of an edited file leaves it as it was and says so',
  async (fault) => {
    await using project = await createTempProject({ 'a.txt': 'old\n' });
    const disk = createDisk(project, fault, `${project.dir}/`);
    await disk.fail();
    const edit = () => toolUse('Edit', { file_path: 'a.txt', old_string: 'old', new_string: 'new' });
    const write = () => toolUse('Write', { file_path: 'b.txt', content: 'b\n' });
    await using server = await startApiServer({
      turns: [calls(toolUse('Read', { file_path: 'a.txt' })), calls(edit(), write()), says('Sad.')],
    });
    const args = ['-p', 'edit', '--permission-mode', 'acceptEdits'];
    const run = await startProgram(project, [...disk.wrapper, LAUNCHER, ...args], server.url).ended;
    expect(run).toMatchObject({ code: 0, stdout: 'Sad.\n' });
    const text = JSON.stringify(server.requests().at(-1)?.body.messages);
    expect(text).toMatch(/a\.txt was not written and is unchanged: the disk/);
    expect(text).toMatch(/b\.txt was not written[^"]*: the disk/);
    expect(await readFile(join(project.dir, 'a.txt'), 'utf8')).toBe('old\n');
    expect(await readdir(project.dir)).toEqual(['a.txt']);
  },
);
