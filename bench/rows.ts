import { rowsOfWork, WORK_DONE, WORK_FILES, WORK_TURNS } from '../test/support/terminal/work-session.ts';
import { openOuro, withApi } from './programs.ts';
import type { Measure } from './row.ts';

export const rows: Measure = {
  name: 'rows',
  words: 'what a prompt with 21 calls leaves in the history',
  run: () =>
    withApi({ turns: [...WORK_TURNS] }, async ({ project, api }) => {
      for (const [path, text] of Object.entries(WORK_FILES)) await project.write(path, text);
      await using terminal = await openOuro(project, api.url, ['--allowedTools', 'Bash', 'Edit', 'Write']);
      terminal.type('go');
      terminal.press('enter');
      await terminal.waitForText(WORK_DONE, 30_000);
      return [
        { name: '21 calls at 120x40: rows of history', unit: 'count', value: rowsOfWork(terminal).length, must: 80 },
      ];
    }),
};
