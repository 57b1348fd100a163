import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runHere } from '../../../test/support/run-here.ts';
import { isWholeRun } from '../../../test/support/runs.ts';
import { createTempProject } from '../../../test/support/temp-project.ts';
import { parseEvalTask } from '../src/eval-task.ts';
import { readShippedEvalTasks } from '../src/shipped-tasks.ts';

const FEW = ['shell-log-report'];

test('each shipped task fails before and passes after its solution', async () => {
  await using project = await createTempProject();
  const tasks = [...(await readShippedEvalTasks()).keys()].map((name) => name.replace('.yaml', ''));
  expect(tasks.length).toBeGreaterThanOrEqual(20);
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  const provable = tasks.filter((name) => hasPython || !name.startsWith('python-'));
  const proven = isWholeRun ? provable : FEW;
  const end = await runHere(project, ['eval', '--prove', '--task', proven.join(',')]);
  expect(end.stdout.trim().split('\n').toSorted()).toEqual(proven.map((name) => `${name}: proven`).toSorted());
  expect(end.code).toBe(0);
}, 180_000);

test('shipped tasks need no network and allow only the commands that they name', async () => {
  for (const [name, source] of await readShippedEvalTasks()) {
    const { allowedTools, repo, mode } = parseEvalTask(source, name);
    expect([name, repo, mode]).toEqual([name, undefined, 'acceptEdits']);
    expect(allowedTools.filter((rule) => !/^Bash\((?:node|npm test|git|grep|rm|sh|python3)\b.*\)$/.test(rule))).toEqual(
      [],
    );
  }
});
