import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';

const PRELOAD = join(import.meta.dirname, '../support/record-analysis.mjs');
const SOURCES = join(import.meta.dirname, '../../src/cli/main.ts');

/** Runs one call of a tool from the reply to its result; returns what the shell analysis was asked. */
async function recordCall(tool: string, input: JsonObject, ...args: readonly string[]) {
  await using project = await createTempProject({ 'a.txt': 'alpha\n' });
  await using api = await startApiServer({ turns: [calls(toolUse(tool, input)), says('done')] });
  const file = join(project.dir, 'recorded.json');
  // Never the build, whose functions cannot be told apart.
  const run = promisify(execFile)(process.execPath, ['--preload', PRELOAD, SOURCES, '-p', 'go', ...args], {
    cwd: project.dir,
    env: { ...bareEnvironment(project, api.url), RECORD_ANALYSIS: file },
  });
  run.child.stdin?.end();
  await run;
  const recorded: { readonly parsed: readonly string[]; readonly entered: readonly string[] } = JSON.parse(
    await readFile(file, 'utf8'),
  );
  return recorded;
}

const COMMANDS = [
  ['that runs', 'cat a.txt | head -1 && ls'],
  ['that needs approval', 'touch b.txt && npm publish'],
];

longTest.each(someOf(COMMANDS))('a command line %s is parsed once', async (_, command) => {
  const { parsed } = await recordCall('Bash', { command });
  expect(parsed).toEqual([command]);
});

longTest('a call of another tool does not enter the shell analysis', async () => {
  const { entered: before } = await recordCall('TodoWrite', { todos: [] });
  const edit = await recordCall('Write', { file_path: 'b.txt', content: 'x' }, '--permission-mode', 'acceptEdits');
  const read = await recordCall('Read', { file_path: 'a.txt' });
  const atStart = new Set(before);
  expect(
    [edit, read].map(({ parsed, entered }) => [...parsed, ...entered.filter((name) => !atStart.has(name))]),
  ).toEqual([[], []]);
});
