import { expect } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { longTest } from '../support/long-test.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';

longTest('keys that people bring from Claude Code do the same, and say so', async () => {
  const removal = calls(toolUse('Bash', { command: 'rm -rf build', description: 'Remove the build' }));
  await using ouro = await openOuro([removal, says('Kept.')], { args: ['--trust'] });
  const { terminal } = ouro;

  terminal.press('shift+tab');
  await terminal.waitForText(/accept edits .*allows edits, asks before other commands/);
  terminal.press('shift+tab');
  await terminal.waitForText(/plan .*changes nothing until you accept a plan/);
  terminal.press('shift+tab');
  await terminal.waitForText(/ask .*asks before edits and commands/);

  terminal.type('# use tabs\r');
  await terminal.waitForText(/^▌ # use tabs\n\nAdded to CLAUDE\.md/m);

  terminal.type('go\r');
  await terminal.waitForText(/Run this command\? {2}deletes build[\s\S]*1 {2}y {2}Yes[\s\S]*↑↓ enter/);
  // A deletion has no answer that enter alone would give.
  terminal.press('enter');
  await terminal.waitForText(/nothing is selected: press a letter, or use the arrow keys first/);
  expect(ouro.api.requests()).toHaveLength(1);
  terminal.type('3');
  await terminal.waitForText(/Type what to do instead/);
  terminal.type('keep it\r');
  await terminal.waitForText(/denied by you: keep it[\s\S]*Kept\./);
});
