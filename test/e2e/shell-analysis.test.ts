import { expect } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import { calls, toolUse } from '../support/api/reply.ts';
import { runCounted } from '../support/counted-run.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';

/** Runs one call of a tool from the reply to its result; returns what the shell analysis was asked. */
async function recordCall(tool: string, input: JsonObject, ...args: readonly string[]) {
  const run = await runCounted([calls(toolUse(tool, input))], ...args);
  return {
    parsed: run.parsed,
    entered: Object.keys(run.calls).filter((name) => /^permissions\/shell\/.* \w+$/.test(name)),
  };
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
