import { expect } from 'vitest';
import { longTest } from '../support/long-test.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';
import { rowsOfWork, WORK_DONE, WORK_FILES, WORK_TURNS } from '../support/terminal/work-session.ts';

longTest('a prompt with 21 calls, words between them and a failure costs at most 80 rows at 120x40', async () => {
  const args = ['--trust', '--allowedTools', 'Bash', 'Edit', 'Write'];
  await using ouro = await openOuro([...WORK_TURNS], { cols: 120, rows: 40, args });
  for (const [path, text] of Object.entries(WORK_FILES)) await ouro.project.write(path, text);
  ouro.terminal.type('go');
  ouro.terminal.press('enter');
  await ouro.terminal.waitForText(WORK_DONE);
  const rows = rowsOfWork(ouro.terminal);
  expect(rows.length).toBeLessThanOrEqual(80);
  expect(rows.filter((row) => /^[✓✗]/.test(row))).toMatchInlineSnapshot(`
    [
      "✓ Looked  Glob **/*.mjs 2 · Read package.json, README.md, src/cart.mjs, src/prices.mjs · Grep discount 4",
      "✗ $ cat fails.txt; exit 1  exit 1  1 of 90 fail",
      "✗ $ git status --short  exit 128",
      "✓ Looked  Grep total 1, rate 1 · Read src/cart.mjs",
      "✓ Edit src/cart.mjs  +1 −1",
      "✓ $ cat passes.txt  90 pass",
      "✓ $ ls -la",
      "✓ Edit src/cart.mjs  +1 −1",
      "✓ Looked  Read src/cart.mjs · Glob *.md 1",
      "✓ Write NOTES.md  +3 (new)",
      "✓ $ cat passes.txt  90 pass",
      "✓ Read NOTES.md",
      "✗ $ git diff --stat  exit 129",
    ]
  `);
});
