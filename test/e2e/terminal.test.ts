import { writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, delayed, reply, says, status, text, thinking, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';
import { type OpenOuro, openOuro } from '../support/terminal/open-ouro.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

const WORKING = /esc stop/;
/** The composer is empty, and nothing is left that Esc would stop. */
const AT_REST = /(?<![\s\S])(?![\s\S]*esc stop)[\s\S]*^[▌|] Say what (?:you|is).*\n +(?:ask|plan|edits) /m;

async function send({ terminal }: OpenOuro, words: string): Promise<void> {
  terminal.type(words);
  await terminal.waitForText(new RegExp(`^[▌|] ${words}`, 'm'));
  terminal.press('enter');
}

/** What a message of the person held, as it was sent. */
function sent({ api }: OpenOuro, nth: number): string {
  return JSON.stringify(api.requests()[nth]?.body.messages ?? []);
}

longTest(
  'the cursor is at the caret, also with wide characters and a spinner; a paste folds and is sent whole',
  async () => {
    const gate = Promise.withResolvers<void>();
    await using ouro = await openOuro([delayed(gate.promise, says('First.')), says('Second.'), says('Third.')]);
    const { terminal } = ouro;
    terminal.type('日本語 né');
    await terminal.waitForText(/^[▌|] 日本語 né/m);
    const row = terminal.screen().findIndex((line) => line.startsWith('▌ 日'));
    expect(terminal.cursor()).toEqual({ x: 2 + 6 + 3, y: row });
    terminal.press('left', 'left', 'left', 'left');
    await terminal.waitForScreen(() => terminal.cursor().x === 6);

    terminal.press('ctrl+e', 'enter');
    await terminal.waitForText(WORKING);
    terminal.type('中文');
    await terminal.waitForText(/^[▌|] 中文/m);
    // Frames of the spinner come and go; the cursor is where the next character belongs in every one.
    const before = terminal.screen().join('\n');
    await terminal.waitForScreen((rows) => rows.join('\n') !== before);
    const draft = terminal.screen().findIndex((line) => line.startsWith('▌ 中文'));
    expect(terminal.cursor()).toEqual({ x: 6, y: draft });
    terminal.press('ctrl+u');
    gate.resolve();
    await terminal.waitForText(AT_REST);

    const lines = Array.from({ length: 200 }, (_, at) => `line ${at + 1} of the paste`).join('\n');
    terminal.paste(`${lines}\x1b[31m`);
    await terminal.waitForText(/\[paste 1: 200 lines/);
    terminal.press('enter');
    await terminal.waitForText(/Second\./);
    expect(sent(ouro, 1)).toContain('line 200 of the paste');
    expect(sent(ouro, 1)).not.toContain('[31m');
    expect(terminal.logicalLines().filter((line) => line.includes('of the paste')).length).toBeLessThan(10);

    const megabyte = 'all work and no play\n'.repeat(50_000);
    terminal.paste(megabyte);
    await terminal.waitForText(/\[paste \d: 50000 lines/);
    terminal.type('!');
    await terminal.waitForText(/lines[^\]]*\]!/);
    terminal.press('enter');
    await terminal.waitForText(/Third\./);
    expect(sent(ouro, 2).length).toBeGreaterThan(megabyte.length);
  },
);

longTest('ESC stops thinking, commands, questions and retries; queued messages return to the draft', async () => {
  await using ouro = await openOuro(
    [
      reply([thinking('hm '.repeat(3000)), text('never')], { chunk: 5, delayMs: 5 }),
      calls(text('Waiting.'), toolUse('Bash', { command: 'echo begun; sleep 60' })),
      calls(toolUse('Bash', { command: 'touch asked' })),
      status(529),
      status(529),
      says('after all'),
    ],
    {
      env: { OURO_RETRY_BASE_MS: '60000' },
      args: ['--allowedTools', 'Bash(echo:*)', 'Bash(sleep:*)', '--effort', 'high'],
    },
  );
  const { terminal, api } = ouro;
  const stopped = async (nth: number) => {
    terminal.press('esc');
    await terminal.waitForScreen(
      () => terminal.logicalLines().filter((line) => line.includes('Type what to do instead')).length === nth,
    );
  };
  await send(ouro, 'think');
  await terminal.waitForText(/thinking \d/);
  await send(ouro, 'queued one');
  await terminal.waitForText(/↳ queued one/);
  await stopped(1);
  await terminal.waitForText(/^[▌|] queued one/m);
  await api.waitForSocketClosed(1);
  terminal.press('ctrl+c');
  await terminal.waitForText(AT_REST);

  await send(ouro, 'run');
  await terminal.waitForText(/│ begun/);
  await stopped(2);

  await send(ouro, 'ask');
  await terminal.waitForText(/(?:↑↓|up down) enter/);
  await stopped(3);
  await expect(ouro.project.read('asked')).rejects.toThrow();

  await send(ouro, 'retry');
  await terminal.waitForText(/overloaded.*try 2 of/i);
  await stopped(4);
  expect(api.requests()).toHaveLength(4);
});

test('messages are queued during work, Up takes the last one back, and keys typed before a question never answer it', async () => {
  const gate = Promise.withResolvers<void>();
  await using ouro = await openOuro([
    delayed(gate.promise, calls(toolUse('Bash', { command: 'touch answered' }))),
    says('It was refused.'),
    says('Then this.'),
  ]);
  const { terminal } = ouro;
  await send(ouro, 'begin');
  await terminal.waitForText(WORKING);
  await send(ouro, 'first wish');
  await send(ouro, 'second wish');
  await terminal.waitForText(/first wish[\s\S]*second wish[\s\S]*^[▌|] (?:Say|typing) .*$/m);
  terminal.press('up');
  await terminal.waitForText(/^[▌|] second wish/m);
  terminal.press('ctrl+u');
  await terminal.waitForText(/^[▌|] (?:Say|typing) .*$/m);

  terminal.type('yes n');
  await terminal.waitForText(/^[▌|] yes n/m);
  gate.resolve();
  await terminal.waitForText(/Run this command\?.*touch answered[\s\S]*^[▌|] yes n/m);
  terminal.type('o y');
  await terminal.waitForText(/^[▌|] yes no y/m);
  await expect(ouro.project.read('answered')).rejects.toThrow();
  terminal.press('ctrl+y');
  await terminal.waitForText(/(?:↑↓|up down) enter/);
  terminal.press('n');
  await terminal.waitForText(/enter sends/);
  terminal.press('enter');
  await terminal.waitForText(/It was refused/);
  expect(sent(ouro, 1)).toContain('first wish');
  await expect(ouro.project.read('answered')).rejects.toThrow();
  await terminal.waitForText(/^[▌|] yes no y/m);
});

longTest('Esc Esc lists earlier messages, and the selected one is edited again', async () => {
  await using ouro = await openOuro([says('One.'), says('Two.')]);
  const { terminal } = ouro;
  await send(ouro, 'the first message');
  await terminal.waitForText(/One\.[\s\S]*^[▌|] (?:Say|typing) .*$/m);
  await terminal.waitForText(AT_REST);
  terminal.press('esc');
  await terminal.waitForText(/esc again to rewind/);
  terminal.press('esc');
  await terminal.waitForText(/Rewind to/);
  // A list hears enter when somebody has looked around in it.
  terminal.press('down', 'enter');
  await terminal.waitForText(/Restore/);
  terminal.press('down', 'enter');
  await terminal.waitForText(/^[▌|] the first message/m);
});

longTest('under a shell: external editor, Ctrl-Z and fg, and a restored terminal at the end', async () => {
  const ouroCommand = `EDITOR='printf edited >>' '${LAUNCHER}' --settings '{"title":true}'`;
  const write = calls(toolUse('Write', { file_path: 'made.txt', content: 'proposed, ' }));
  // What is typed a quarter of a second after an answer counts as part of it.
  const slow = says('Hello.', { chunk: 1, delayMs: 60 });
  await using ouro = await openOuro([write, slow], {
    command: ['/bin/bash', '--norc', '-i'],
    env: { PS1: 'shell$ ' },
    ready: /shell\$/,
  });
  const { terminal } = ouro;
  terminal.type(`${ouroCommand}\r`);
  await terminal.waitForText(/^[▌|] (?:Say|typing) .*$/m);
  terminal.type('draft ');
  await terminal.waitForText(/^[▌|] draft/m);
  terminal.press('ctrl+g');
  await terminal.waitForText(/^[▌|] draft edited/m);
  terminal.press('ctrl+z');
  await terminal.waitForText(/Stopped[\s\S]*shell\$ *$/m);
  expect(modes(terminal.bytes())).toEqual([]);
  terminal.type('fg\r');
  await terminal.waitForText(/fg[\s\S]*^[▌|] draft edited/m);
  terminal.type(' again');
  await terminal.waitForText(/^[▌|] draft edited again/m);
  expect(modes(terminal.bytes())).toContain('?1004');
  // What is saved of a proposed edit is what is applied, and the model is told.
  terminal.press('enter');
  await terminal.waitForText(/(?:↑↓|up down) enter/);
  terminal.type('e');
  await terminal.waitForText(/Hello\./);
  expect(await readFile(join(ouro.project.dir, 'made.txt'), 'utf8')).toBe('proposed, edited');
  expect(sent(ouro, 1)).toMatch(/changed this call before allowing it.*proposed, edited/);
  await terminal.waitForText(AT_REST);
  terminal.type('a draft');
  await terminal.waitForText(/^[▌|] a draft/m);
  terminal.press('ctrl+c', 'ctrl+c');
  await terminal.waitForText(/ctrl\+c again/);
  terminal.press('ctrl+c');
  await terminal.waitForText(/shell\$ *$/m);
  expect(modes(terminal.bytes())).toEqual([]);
  terminal.type('stty -a | tr " ;" "\\n" | grep -xE "icanon|echo" | xargs echo modes:\r');
  await terminal.waitForText(/^modes: icanon echo/m);
});

longTest('a draft survives kill -9, and SIGTERM restores the terminal', async () => {
  await using ouro = await openOuro([says('Hello.')]);
  ouro.terminal.type('hours of work');
  await ouro.terminal.waitForText(/^[▌|] hours of work/m);
  await expect.poll(() => draftOf(ouro)).toContain('hours of work');
  process.kill(ouro.terminal.pid, 'SIGKILL');
  await ouro.terminal.exited;
  const next = ouro.again();
  await next.waitForText(/^[▌|] hours of work/m);
  process.kill(next.pid, 'SIGTERM');
  expect((await next.exited).code).toBe(143);
  expect(modes(next.bytes())).toEqual([]);
  expect(next.bytes()).toMatch(/\x1b\[\?25h/);
});

/** What of the drafts is on disk, under its final name. */
async function draftOf({ project }: OpenOuro): Promise<string> {
  const projects = join(project.ouroHome, 'projects');
  const [slug = ''] = await readdir(projects).catch(() => []);
  const folder = join(projects, slug, 'drafts');
  const names = await readdir(folder).catch(() => []);
  const saved = names.filter((name) => name.endsWith('.json'));
  const texts = saved.map((name) => readFile(join(folder, name), 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

/** The modes that are still on after these bytes. */
function modes(bytes: string): readonly string[] {
  const on = new Set<string>();
  for (const [, mode = '', how] of bytes.matchAll(/\x1b\[(\?(?:1004|2031|2026|1049))([hl])/g)) {
    if (how === 'h') on.add(mode);
    else on.delete(mode);
  }
  const pushed = (bytes.match(/\x1b\[>1u/g) ?? []).length - (bytes.match(/\x1b\[<u/g) ?? []).length;
  return [...on, ...(pushed > 0 ? ['kitty'] : [])];
}

longTest.each([
  ['light', 0x8a6200],
  ['dark', 0xe5b550],
  ['mute', 0xe5b550],
] as const)('what is printed first has the colours of a %s background', async (background, gold) => {
  // One that is reached over a network may take its time to answer, as one in a busy test does.
  const env = { COLORTERM: 'truecolor', SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' };
  await using ouro = await openOuro([], { background, env });
  const cell = ouro.terminal.terminal.buffer.active.getLine(0)?.getCell(1);
  expect([cell?.getChars(), cell?.getFgColor()]).toEqual(['╭', gold]);
});

longTest('a prompt that was typed while the shell still started the program is sent', async () => {
  await using project = await createTempProject();
  await using api = await startApiServer({ turns: [says('Hello.')] });
  // The shell waits, so that the terminal translates Enter before the program takes it.
  const script = `until [ -e go ]; do :; done; exec '${LAUNCHER}' --trust`;
  const env = terminalEnvironment(project, api.url);
  await using terminal = openTerminal(['sh', '-c', script], { cwd: project.dir, env, cols: 80, rows: 24 });
  terminal.type('say hello');
  terminal.press('enter');
  await terminal.waitForText(/^say hello$/m);
  terminal.type('draft');
  await terminal.waitForText(/^draft$/m);
  writeFileSync(join(project.dir, 'go'), '');
  const request = await api.waitForRequest(1);
  expect(request.raw).toContain('say hello');
  await terminal.waitForText(/Hello\.[\s\S]*^[▌|] draft/m);
});
