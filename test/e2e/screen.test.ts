import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { calls, says, status, text, toolUse } from '../support/api/reply.ts';
import { type Script, startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';
import { openTerminal, type VirtualTerminal } from '../support/terminal/virtual-terminal.ts';

/** ouro in a terminal, in front of a scripted API. */
async function openOuro(
  turns: Script['turns'],
  size: { readonly cols: number; readonly rows: number } = { cols: 80, rows: 24 },
) {
  const project = await createTempProject();
  const api = await startApiServer({ turns });
  const terminal = openTerminal([LAUNCHER], { cwd: project.dir, env: terminalEnvironment(project, api.url), ...size });
  await terminal.waitForText(/^[▌|]/m);
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

/** The same project in front of a second terminal. */
async function openAgain({ project, api }: Awaited<ReturnType<typeof openOuro>>, ...flags: readonly string[]) {
  const terminal = openTerminal([LAUNCHER, ...flags], {
    cwd: project.dir,
    env: terminalEnvironment(project, api.url),
    cols: 80,
    rows: 24,
  });
  await terminal.waitForText(/^[▌|]/m);
  return terminal;
}

/** Resolves once nothing runs any more. */
async function atRest(terminal: VirtualTerminal): Promise<void> {
  await terminal.waitForScreen((rows) => {
    return rows.some((row) => row.trim().startsWith('ask ')) && !rows.some((row) => row.includes('esc stop'));
  });
}

/** The number of the last paragraph in sight. */
function lastParagraph(rows: readonly string[]): number {
  return Math.max(0, ...[...rows.join('\n').matchAll(/Paragraph (\d+) /g)].map(([, number]) => Number(number)));
}

/** Resolves once a file that is whole, somewhere in a folder, holds what is looked for. */
async function waitForFile(folder: string, holds: RegExp): Promise<void> {
  const isThere = async () => {
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    const whole = names.filter((name) => !name.endsWith('.tmp'));
    const texts = await Promise.all(whole.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
    return texts.some((text) => holds.test(text));
  };
  await vi.waitFor(async () => expect(await isThere()).toBe(true), { interval: 20 });
}

const PARAGRAPHS = Array.from(
  { length: 30 },
  (_, at) =>
    `Paragraph ${at + 1} tells of thing number ${at + 1}, at some length, so that it wraps in a narrow window.`,
);

test('a question is typed, sent and answered, code in colors; two Ctrl-C exit', async () => {
  const code = '```ts\nconst answer = 42;\n```';
  await using ouro = await openOuro([says(`The answer is **42**.\n\n${code}`)]);
  ouro.terminal.type('what is the answer?');
  await ouro.terminal.waitForText(/▌ what is the answer\?/);
  ouro.terminal.press('enter');
  await ouro.terminal.waitForText(/The answer is 42\./);
  await atRest(ouro.terminal);
  ouro.terminal.press('ctrl+c');
  await ouro.terminal.waitForText(/ctrl\+c again to exit/);
  ouro.terminal.press('ctrl+c');
  expect(await ouro.terminal.exited).toEqual({ code: 0, signal: null });
  expect(ouro.terminal.logicalLines().filter((line) => line.includes('The answer is 42'))).toHaveLength(1);
  // The program loads the colours only when it first has code to print, and prints none without them.
  expect(ouro.terminal.bytes()).toContain('\x1b[38;2;122;162;247mconst');
});

test('every paragraph is in the scrollback exactly once, also when the window is resized meanwhile', async () => {
  await using ouro = await openOuro([says(PARAGRAPHS.join('\n\n'), { chunk: 24, delayMs: 4 })]);
  const { terminal } = ouro;
  terminal.type('talk');
  terminal.press('enter');
  for (const [at, cols] of [60, 100, 44, 80].entries()) {
    await terminal.waitForScreen((rows) => lastParagraph(rows) >= at * 6 + 2);
    terminal.resize({ cols, rows: 24 });
  }
  await terminal.waitForText(/thing number 30/);
  await atRest(terminal);
  const said = terminal.logicalLines().join('\n');
  for (let number = 1; number <= 30; number += 1) {
    expect(said.match(new RegExp(`Paragraph ${number} tells`, 'g')) ?? [], `paragraph ${number}`).toHaveLength(1);
  }
  expect(terminal.bytes()).not.toMatch(/\x1b\[[23]J|\x1b\[\?(?:1049|100[0-3]|1006)h/);
});

test('ESC stops an answer at once and keeps the shown text', async () => {
  await using ouro = await openOuro([says('word '.repeat(4000), { chunk: 10, delayMs: 5 })]);
  const { terminal } = ouro;
  terminal.type('go');
  terminal.press('enter');
  await terminal.waitForText(/word word word/);
  terminal.press('esc');
  await terminal.waitForText(/Stopped\. Type what to do instead/);
  expect(terminal.logicalLines().join('\n')).toContain('word word');
});

longTest('a refused message returns to the draft, and Enter retries without repeating it', async () => {
  await using ouro = await openOuro([status(401), says('Now it works.')]);
  const { terminal } = ouro;
  terminal.type('my one question');
  terminal.press('enter');
  await terminal.waitForText(/invalid x-api-key[\s\S]*^[▌|] my one question/m);
  terminal.press('enter');
  await terminal.waitForText(/Now it works\./);
  const { raw } = await ouro.api.waitForRequest(2);
  expect(raw.match(/my one question/g)).toHaveLength(1);
});

test('a command is asked about, and y runs it once', async () => {
  await using ouro = await openOuro([
    calls(text('I make a file.'), toolUse('Bash', { command: 'echo made > made.txt' })),
    says('Done.'),
  ]);
  const { terminal } = ouro;
  terminal.type('make it');
  terminal.press('enter');
  await terminal.waitForText(/1 {2}y {2}Yes[\s\S]*(?:↑↓|up down) enter/);
  terminal.press('y');
  await terminal.waitForText(/Done\./);
  expect(await ouro.project.read('made.txt')).toBe('made\n');
});

longTest('the transcript is viewed during an answer, and nothing of it is lost', async () => {
  await using ouro = await openOuro([says(PARAGRAPHS.slice(0, 12).join('\n\n'), { chunk: 24, delayMs: 10 })]);
  const { terminal } = ouro;
  terminal.type('talk');
  terminal.press('enter');
  await terminal.waitForScreen((rows) => lastParagraph(rows) >= 2);
  terminal.press('ctrl+o');
  await terminal.waitForText(/^Transcript .* q back/m);
  terminal.press('q');
  await terminal.waitForText(/thing number 12/);
  await atRest(terminal);
  const said = terminal.logicalLines().join('\n');
  for (let number = 1; number <= 12; number += 1) {
    expect(said.match(new RegExp(`Paragraph ${number} tells`, 'g')) ?? [], `paragraph ${number}`).toHaveLength(1);
  }
});

longTest('the draft is restored after the program was killed', async () => {
  await using ouro = await openOuro([]);
  const { project, terminal } = ouro;
  terminal.type('three hours of thoughts');
  await waitForFile(join(project.ouroHome, 'projects'), /three hours of thoughts/);
  process.kill(terminal.pid, 'SIGKILL');
  await terminal.exited;
  await using again = await openAgain(ouro);
  await again.waitForText(/^[▌|] three hours of thoughts[\s\S]*draft from/m);
  again.press('ctrl+s');
  again.press('ctrl+d');
  await again.waitForText(/again/);
  again.press('ctrl+d');
  await again.waitForText(/^Not sent, saved for the next start in this folder: 1 draft\.$/m);
});

longTest('another session is resumed from the list, with its last messages in sight', async () => {
  await using ouro = await openOuro([says('The first answer.'), says('The second answer.'), says('Still here.')]);
  const { terminal } = ouro;
  terminal.type('about lexers');
  terminal.press('enter');
  await terminal.waitForText(/The first answer\./);
  await atRest(terminal);
  terminal.press('ctrl+c');
  await terminal.waitForText(/ctrl\+c again/);
  terminal.press('ctrl+c');
  await terminal.exited;
  await using again = await openAgain(ouro, '--resume');
  await again.waitForText(/^▌ Resume .*1 of 1/m);
  again.press('enter');
  await again.waitForText(/▌ about lexers[\s\S]*The first answer\./);
  again.type('go on');
  await again.waitForText(/^[▌|] go on/m);
  again.press('enter');
  await again.waitForText(/The second answer\./);
  const { messages = [] } = (await ouro.api.waitForRequest(2)).body;
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
});
