import {
  HEAVY_FILES,
  HEAVY_TURNS,
  listWorkRows,
  WORK_DONE,
  WORK_FILES,
  WORK_TURNS,
} from '../test/support/terminal/work-session.ts';
import { openOuro, withApi } from './programs.ts';
import type { Measure, Row } from './row.ts';

export const rows: Measure = {
  name: 'rows',
  description: 'rows of history of a prompt with 21 calls',
  run: async () => [
    await countRows('21 calls at 120x40: rows of history', WORK_FILES, WORK_TURNS, 60),
    await countRows('the same with two failing test runs, ls, cat and git log', HEAVY_FILES, HEAVY_TURNS, 75),
  ],
};

function countRows(name: string, files: typeof WORK_FILES, turns: typeof WORK_TURNS, must: number): Promise<Row> {
  return withApi({ turns: [...turns] }, async ({ project, api }) => {
    for (const [path, text] of Object.entries(files)) await project.write(path, text);
    await project.initGit();
    await using terminal = await openOuro(project, api.url, ['--allowedTools', 'Bash', 'Edit', 'Write']);
    terminal.type('go');
    terminal.press('enter');
    await terminal.waitForText(WORK_DONE, 30_000);
    return { name, unit: 'count', value: listWorkRows(terminal).length, must };
  });
}
