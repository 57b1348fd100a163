import { expect } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { longTest } from '../support/long-test.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`);
const EDITS = [
  { old_string: 'line 3\n', new_string: 'three\n' },
  { old_string: 'line 40\n', new_string: 'forty\n' },
];

longTest('an edit is allowed in parts, reviewed and undone, and the model learns of both', async () => {
  const read = toolUse('Read', { file_path: 'a.txt' }, 'c1');
  const change = toolUse('MultiEdit', { file_path: 'a.txt', edits: EDITS }, 'c2');
  await using ouro = await openOuro([calls(read), calls(change), says('Changed.'), says('I see.')], {
    cols: 130,
    rows: 40,
  });
  const { terminal, project } = ouro;
  await project.write('a.txt', numbered(60).join(''));
  terminal.type('count in words');
  await terminal.waitForText(/count in words$/m);
  terminal.press('enter');
  await terminal.waitForText(/(?:↑↓|up down) enter/);
  terminal.press('v');
  await terminal.waitForText(/part 1 of 2, lines 1-6[\s\S]*3 - line 3 +│ +3 \+ three/);
  terminal.press('y');
  terminal.press('t');
  terminal.type('forty is fine as it is');
  await terminal.waitForText(/reason: forty is fine as it is/);
  terminal.press('enter');
  await terminal.waitForText(/enter sends 1 yes, 1 no/);
  terminal.press('enter');
  await terminal.waitForText(/You refused 1 of 2 parts: line 37 \(forty is fine as it is\)\.[\s\S]*Changed\./);
  const made = numbered(60).with(2, 'three\n').join('');
  expect(await project.read('a.txt')).toBe(made);
  const reported = ouro.api.requests().at(-1)?.raw ?? '';
  expect(reported).toContain('allowed 1 part of 2');
  expect(reported).toContain('because: forty is fine as it is');

  terminal.type('/diff');
  await terminal.waitForText(/\/diff$/m);
  terminal.press('enter');
  await terminal.waitForText(/^▌ Changes[\s\S]*count in words[\s\S]*a\.txt +\+1 −1/m);
  // Whoever has moved in a list has seen it; the Enter that opened it would not count so soon.
  terminal.press('down', 'enter');
  await terminal.waitForText(/part 1 of 1, lines 1-6/);
  terminal.press('u');
  await terminal.waitForText(/Reverted in a\.txt/);
  expect(await project.read('a.txt')).toBe(numbered(60).join(''));
  terminal.press('q');
  await terminal.waitForText(/^▌ Changes/m);
  terminal.press('esc');
  await terminal.waitForScreen((rows) => !rows.join('\n').includes('Changes'));
  terminal.type('go on');
  await terminal.waitForText(/go on$/m);
  terminal.press('enter');
  await terminal.waitForText(/I see\./);
  expect(ouro.api.requests().at(-1)?.raw).toContain('took this part of them back');
});
