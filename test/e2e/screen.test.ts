import { expect, test } from 'vitest';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { type Script, startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/virtual-terminal.ts';

/** ouro in a terminal, in front of a scripted API. */
async function openOuro(
  turns: Script['turns'],
  size: { readonly cols: number; readonly rows: number } = { cols: 80, rows: 24 },
) {
  const project = await createTempProject();
  const api = await startApiServer({ turns });
  const terminal = openTerminal([LAUNCHER], { cwd: project.dir, env: terminalEnvironment(project, api.url), ...size });
  await terminal.waitForText(/^>/m);
  return {
    project,
    api,
    terminal,
    async [Symbol.asyncDispose]() {
      await terminal.kill();
      await api.close();
      await project.remove();
    },
  };
}

const PARAGRAPHS = Array.from(
  { length: 30 },
  (_, at) =>
    `Paragraph ${at + 1} tells of thing number ${at + 1}, at some length, so that it wraps in a narrow window.`,
);

test('a question is typed, sent and answered; two Ctrl-C leave', async () => {
  await using ouro = await openOuro([says('The answer is **42**.')]);
  ouro.terminal.type('what is the answer?');
  await ouro.terminal.waitForText(/> what is the answer\?/);
  ouro.terminal.press('enter');
  await ouro.terminal.waitForText(/The answer is 42\./);
  await ouro.terminal.waitForText(/^ask /m);
  ouro.terminal.press('ctrl+c');
  await ouro.terminal.waitForText(/ctrl-c again to leave/);
  ouro.terminal.press('ctrl+c');
  expect(await ouro.terminal.exited).toEqual({ code: 0, signal: null });
  expect(ouro.terminal.logicalLines().filter((line) => line.includes('The answer is 42'))).toHaveLength(1);
});

test('every paragraph is in the history exactly once, also when the window changes while they come', async () => {
  await using ouro = await openOuro([says(PARAGRAPHS.join('\n\n'), { chunk: 24, delayMs: 4 })]);
  const { terminal } = ouro;
  terminal.type('talk');
  terminal.press('enter');
  for (const [at, cols] of [60, 100, 44, 80].entries()) {
    await terminal.waitForText(new RegExp(`Paragraph ${at * 6 + 2} `));
    terminal.resize({ cols, rows: 24 });
  }
  await terminal.waitForText(/thing number 30/);
  await terminal.waitForText(/^ask (?!.*esc)/m);
  const said = terminal.logicalLines().join('\n');
  for (let number = 1; number <= 30; number += 1) {
    expect(said.match(new RegExp(`Paragraph ${number} tells`, 'g')) ?? [], `paragraph ${number}`).toHaveLength(1);
  }
  expect(terminal.bytes()).not.toMatch(/\x1b\[[23]J|\x1b\[\?(?:1049|100[0-3]|1006)h/);
});

test('ESC stops an answer at once and keeps what was shown', async () => {
  await using ouro = await openOuro([says('word '.repeat(4000), { chunk: 10, delayMs: 5 })]);
  const { terminal } = ouro;
  terminal.type('go');
  terminal.press('enter');
  await terminal.waitForText(/word word word/);
  terminal.press('esc');
  await terminal.waitForText(/Stopped\. Say what to do instead/);
  expect(terminal.logicalLines().join('\n')).toContain('word word');
});

test('a command is asked about, and y runs it once', async () => {
  await using ouro = await openOuro([
    calls(text('I make a file.'), toolUse('Bash', { command: 'echo made > made.txt' })),
    says('Done.'),
  ]);
  const { terminal } = ouro;
  terminal.type('make it');
  terminal.press('enter');
  await terminal.waitForText(/y {2}once[\s\S]*a letter answers/);
  terminal.press('y');
  await terminal.waitForText(/Done\./);
  expect(await ouro.project.read('made.txt')).toBe('made\n');
});
