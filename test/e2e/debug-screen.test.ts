import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { says } from '../support/api/reply.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject } from '../support/temp-project.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';
import { createScreen } from '../support/terminal/terminal-screen.ts';

longTest(
  'OURO_DEBUG_SCREEN records input, output and resizes, and the recording gives the same screen again',
  async () => {
    await using folder = await createTempProject();
    const path = join(folder.dir, 'screen.cast');
    await using ouro = await openOuro(() => says('A short answer.'), { env: { OURO_DEBUG_SCREEN: path } });
    const { terminal } = ouro;
    terminal.type('hello there');
    terminal.press('enter');
    await terminal.waitForText(/A short answer\./);
    terminal.resize({ cols: 60, rows: 20 });
    terminal.type('/exit');
    await terminal.waitForText(/\/exit/);
    terminal.press('enter');
    await terminal.exited;

    const [header = '', ...lines] = (await readFile(path, 'utf8')).trim().split('\n');
    expect(JSON.parse(header)).toMatchObject({ version: 2, width: 80, height: 24 });
    const events: readonly [number, string, string][] = lines.map((line) => JSON.parse(line));
    expect(events.filter(([, code]) => code === 'r').map(([, , data]) => data)).toEqual(['60x20']);
    const typed = events.filter(([, code]) => code === 'i').map(([, , data]) => data);
    expect(typed.join('')).toMatch(/hello there\r.*\/exit\r$/s);
    expect((await stat(path)).mode & 0o777).toBe(0o600);

    const replayed = createScreen({ cols: 80, rows: 24 });
    for (const [, code, data] of events) {
      if (code === 'o') replayed.feed(data);
      if (code === 'r') replayed.resize({ cols: 60, rows: 20 });
    }
    await replayed.settled();
    expect(replayed.logicalLines().join('\n')).toContain('A short answer.');
    expect(replayed.logicalLines().join('\n')).toContain('hello there');
    replayed.dispose();
  },
);

longTest('a recording that cannot be written is reported, and ouro starts without it', async () => {
  await using ouro = await openOuro(() => says('Yes.'), { env: { OURO_DEBUG_SCREEN: '/nowhere/screen.cast' } });
  const lines = ouro.terminal.logicalLines().join('\n');
  expect(lines).toContain('The screen cannot be recorded to /nowhere/screen.cast');
});
