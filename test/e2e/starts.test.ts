import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runOuro } from '../support/run-ouro.ts';
import { isWholeRun, partOf, someOf } from '../support/runs.ts';
import { FILES, HOMES, STAND_INS_FOR_FILES, WORKING_DIRECTORIES } from '../support/surroundings/folders.ts';
import { isGiven, STARTERS, type Starter, tryStart } from '../support/surroundings/surrounding.ts';
import { SYSTEMS } from '../support/surroundings/systems.ts';
import { STREAMS, TERMINALS } from '../support/surroundings/terminals.ts';
import { OTHER_VARIABLES, RUNTIME_VARIABLES, SHELL_VARIABLES } from '../support/surroundings/variables.ts';
import { createTempProject } from '../support/temp-project.ts';

const GROUPS = [
  WORKING_DIRECTORIES,
  HOMES,
  FILES,
  STAND_INS_FOR_FILES,
  SHELL_VARIABLES,
  RUNTIME_VARIABLES,
  OTHER_VARIABLES,
  TERMINALS,
  STREAMS,
  SYSTEMS,
];
const surroundings = GROUPS.flatMap((group) => someOf(group)).filter(
  ({ needs }) => needs === undefined || isGiven(needs),
);
const all: readonly Starter[] = ['bin/ouro', 'npm start', 'the executable'];
const starters = isWholeRun
  ? all.filter((name) => name !== 'the executable' || existsSync(STARTERS[name][0]))
  : all.slice(0, 1);
/** Most surroundings do not depend on the starter, so the others get a part of them. */
const cases = starters.flatMap((starter, at) =>
  (isWholeRun ? partOf(surroundings, at === 0 ? 2 : 8) : surroundings).map((one) => [starter, one.name, one] as const),
);

let api: ApiServer;
beforeAll(async () => {
  api = await startApiServer({ turns: [], after: says('Hello.') });
});
afterAll(() => api.close());

test.concurrent.each(cases)('%s copes with %s', async (starter, _name, surrounding) => {
  await using project = await createTempProject();
  expect(await tryStart(project, surrounding, starter, api.url)).toEqual([]);
});

longTest("commands get the variables for the user's own Bun", async () => {
  await using project = await createTempProject();
  const command = 'printenv BUN_OPTIONS BUN_INSPECT_PRELOAD OURO_BUN_OPTIONS';
  await using server = await startApiServer({ turns: [calls(toolUse('Bash', { command })), says('Done.')] });
  const env = { BUN_OPTIONS: '--preload=/dev/null/x.js', BUN_INSPECT_PRELOAD: '/dev/null/y.js' };
  const args = ['-p', 'hi', '--allowedTools', 'Bash(printenv:*)'];
  expect(await runOuro(project, args, server.url, { env })).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(server.requests()[1]?.raw).toContain('--preload=/dev/null/x.js\\n/dev/null/y.js');
});
