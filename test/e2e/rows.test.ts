import { expect } from 'vitest';
import { longTest } from '../support/long-test.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';
import {
  HEAVY_FILES,
  HEAVY_TURNS,
  listWorkRows,
  WORK_DONE,
  WORK_FILES,
  WORK_TURNS,
} from '../support/terminal/work-session.ts';

/** Seconds are shown only for calls that took some. */
const withoutSeconds = (row: string) => row.replace(/(?: {2}| · )[\d.]+s$/, '');

longTest('a prompt with 21 calls, text between them and a failure takes at most 60 rows at 120x40', async () => {
  const args = ['--trust', '--allowedTools', 'Bash', 'Edit', 'Write'];
  await using ouro = await openOuro([...WORK_TURNS], { cols: 120, rows: 40, args });
  for (const [path, text] of Object.entries(WORK_FILES)) await ouro.project.write(path, text);
  ouro.terminal.type('go');
  ouro.terminal.press('enter');
  await ouro.terminal.waitForText(WORK_DONE);
  const rows = listWorkRows(ouro.terminal);
  expect(rows.length).toBeLessThanOrEqual(60);
  expect(rows.filter((row) => /^[✓✗]/.test(row)).map(withoutSeconds)).toMatchInlineSnapshot(`
    [
      "✓ Looked  Glob **/*.mjs 2 · Read package.json, README.md, src/cart.mjs, src/prices.mjs · Grep discount 4",
      "✗ $ cat fails.txt; exit 1  exit 1  1 of 90 fail",
      "✗ $ git status --short  exit 128",
      "✓ Looked  Grep total 1, rate 1 · Read src/cart.mjs",
      "✓ Edit src/cart.mjs  +1 −1",
      "✓ $ cat passes.txt 92, ls -la 8",
      "✓ Edit src/cart.mjs  +1 −1",
      "✓ Looked  Read src/cart.mjs · Glob *.md 1",
      "✓ Write NOTES.md  +3 (new)",
      "✓ Looked  $ cat passes.txt 92 · Read NOTES.md",
      "✗ $ git diff --stat  exit 129",
    ]
  `);
});

longTest('two failing test runs, a listing, a file and a log cost at most 75 rows at 120x40', async () => {
  const args = ['--trust', '--allowedTools', 'Bash', 'Edit', 'Write'];
  await using ouro = await openOuro([...HEAVY_TURNS], { cols: 120, rows: 40, args });
  for (const [path, text] of Object.entries(HEAVY_FILES)) await ouro.project.write(path, text);
  await ouro.project.initGit();
  ouro.terminal.type('go');
  ouro.terminal.press('enter');
  await ouro.terminal.waitForText(WORK_DONE);
  const rows = listWorkRows(ouro.terminal);
  expect(rows.filter((row) => /^[✓✗]|^│ ✗/.test(row)).map(withoutSeconds)).toMatchInlineSnapshot(`
    [
      "✓ Looked  $ ls -la 9, git log 5, cat src/prices.mjs 60 · Read package.json, src/cart.mjs · Glob **/*.mjs 2",
      "✗ $ cat fails.txt; exit 1  exit 1  2 of 90 fail",
      "│ ✗ takes the discount once   Expected 90, got 80 · test/cart.test.mjs:6",
      "│ ✗ rounds half a cent up   Expected 1.01, got 1 · test/cart.test.mjs:7",
      "✓ Looked  Grep discount 4 · Read README.md",
      "✓ Edit src/cart.mjs  +1 −1",
      "✗ $ cat fails.txt; exit 1  exit 1  2 of 90 fail",
      "│ ✗ takes the discount once   Expected 90, got 80 · test/cart.test.mjs:6",
      "│ ✗ rounds half a cent up   Expected 1.01, got 1 · test/cart.test.mjs:7",
      "✓ Edit src/cart.mjs  +1 −1",
      "✓ Looked  Read src/cart.mjs · $ cat passes.txt 92, git status 7",
      "✓ $ git diff",
      "✓ Grep rate 1",
      "✓ Write NOTES.md  +3 (new)",
      "✓ Looked  Read NOTES.md · $ git log --oneline -5 1, git diff --stat 2",
    ]
  `);
  expect(rows.length).toBeLessThanOrEqual(75);
});
