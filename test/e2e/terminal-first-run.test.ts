import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER, runOuro } from '../support/run-ouro.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

let project: TempProject;

beforeEach(async () => {
  project = await createTempProject();
});

afterEach(() => project.remove());

/** ouro in a terminal. */
function open(env: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
  const surroundings = { ...terminalEnvironment(project), ...env };
  return openTerminal([LAUNCHER, ...args], { cwd: project.dir, env: surroundings, cols: 100, rows: 30 });
}

/** The key on screen that stands before these words. */
async function pressSuggested(terminal: ReturnType<typeof open>, words: RegExp): Promise<void> {
  const place = new RegExp(`(?:^|\\s)(\\w) {2}${words.source}`, 'm');
  const rows = await terminal.waitForText(place);
  terminal.press(place.exec(rows.join('\n'))?.[1] ?? '');
}

longTest(
  'an empty home leads through the demo to the finished edit with the keys on screen, and it can be resumed',
  async () => {
    await using terminal = open();
    await terminal.waitForText(/no server found/);
    await pressSuggested(terminal, /The demo: a scripted model/);
    for (const what of [
      /node --test[\s\S]*Run the tests of/,
      /Change src\/cart\.mjs\?/,
      /Run the tests again/,
      /receipt\.txt/,
    ]) {
      await terminal.waitForText(new RegExp(`${what.source}[\\s\\S]*(?:↑↓|up down) enter`));
      await pressSuggested(terminal, /Yes/);
    }
    await terminal.waitForText(/That was the tour/);
    const said = terminal.logicalLines().join('\n');
    const folder = /\/.*ouro-demo-\w+/.exec(said)?.[0] ?? '';
    expect(said).toMatch(/This is the built-in demo/);
    expect(said).toMatch(/1 of \d+ fail[\s\S]*subtotal \* \(1 - percent \/ 100\)[\s\S]*\d+ pass[\s\S]*receipt\.txt/);
    expect(await readFile(join(folder, 'src/cart.mjs'), 'utf8')).toContain('subtotal * (1 - percent / 100)');

    // Keys right behind an answer are taken for a part of it; what is pasted is not.
    terminal.paste('tell me a joke');
    await terminal.waitForText(/▌ tell me a joke/);
    terminal.press('enter');
    await terminal.waitForText(
      /This is the demo, and I have no line for that[\s\S]*in this folder are real\.[\s\S]*▌ Say what is next/,
    );
    terminal.press('ctrl+c');
    await terminal.waitForText(/ctrl\+c again to exit/);
    terminal.press('ctrl+c');
    expect((await terminal.exited).code).toBe(0);

    const args = ['-p', 'go on', '--continue'];
    const resumed = await runOuro(project, args, undefined, { cwd: folder });
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('The tour is over') });
  },
);

longTest('the demo runs in print mode: what needs an answer is denied, and it says that it is the demo', async () => {
  const plain = await runOuro(project, ['-p', 'fix it', '--model', 'demo']);
  expect(plain.code).toBe(0);
  const args = [
    '-p',
    'fix it',
    '--model',
    'demo',
    '--permission-mode',
    'acceptEdits',
    '--allowedTools',
    'Bash(node:*)',
  ];
  const allowed = await runOuro(project, args);
  expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('That was the tour') });
  const folder = /ouro-demo-\w+/.exec(allowed.stdout)?.[0] ?? '';
  const text = await readFile(join(dirname(project.dir), folder, 'src/cart.mjs'), 'utf8');
  expect(text).toContain('subtotal * (1 - percent / 100)');
});

longTest('a key that a question ignores is no draft, so the first question of the demo is shown whole', async () => {
  await project.initGit();
  await project.write('CLAUDE.md', 'Be brief.\n');
  await using terminal = open();
  await terminal.waitForText(/Yes, trust this folder[\s\S]*esc exit/);
  terminal.press('d');
  await terminal.waitForText(/kept for your first message/);
  await terminal.waitForScreen((rows) => !rows.join('\n').includes('kept for your first message'));
  await pressSuggested(terminal, /Yes, trust this folder/);
  await pressSuggested(terminal, /The demo: a scripted model/);
  await terminal.waitForText(/Run this command\?[\s\S]*node --test[\s\S]*1 {2}y {2}Yes[\s\S]*↑↓ enter/);
});

test('a pasted key is private and used at once; text typed ahead becomes the draft', async () => {
  await using api = await startApiServer({ turns: [says('Hello.'), says('Again.')], apiKey: 'sk-ant-pasted' });
  const env = { ANTHROPIC_BASE_URL: api.url };
  {
    await using terminal = open(env);
    terminal.type('say hello');
    const isQuiet = (rows: readonly string[]) => !rows.join('\n').includes('kept for your first message');
    await terminal.waitForScreen((rows) => /An API key: Anthropic/.test(rows.join('\n')) && isQuiet(rows));
    await pressSuggested(terminal, /An API key: Anthropic/);
    await terminal.waitForText(/Paste an API key/);
    terminal.paste('sk-ant-pasted');
    await terminal.waitForText(/> sk-a•{8}d[\s\S]*Anthropic key, 13 characters/);
    terminal.press('enter');
    await terminal.waitForText(/▌ say hello/);
    terminal.press('enter');
    await terminal.waitForText(/Hello\./);
    expect(terminal.bytes()).not.toContain('sk-ant-pasted');
  }
  expect((await stat(join(project.ouroHome, 'keys.json'))).mode & 0o777).toBe(0o600);
  expect(await runHere(project, ['-p', 'hi'], undefined, { env })).toMatchObject({ code: 0, stdout: 'Again.\n' });
});

longTest('linear mode asks the same, and a server is entered by its address', async () => {
  await using api = await startOpenAiServer({ turns: [says('Hello from nearby.')] });
  await using terminal = open({ TERM: 'dumb' });
  await pressSuggested(terminal, /Another OpenAI-compatible server/);
  await terminal.waitForText(/Enter the address of the server/);
  terminal.type(`${new URL(api.url).port}`);
  await terminal.waitForText(new RegExp(`^${api.url}$`, 'm'));
  terminal.press('enter');
  await pressSuggested(terminal, new RegExp(`${api.url}/v1#qwen3`));
  await terminal.waitForText(/TERM=dumb/);
  terminal.type('hi');
  terminal.press('enter');
  await terminal.waitForText(/Answer: Hello from nearby\./);
  expect(terminal.bytes()).not.toContain('\u001b[');
  expect(terminal.bytes().match(/Which model should answer/g)).toHaveLength(1);
  expect(await readFile(join(project.ouroHome, 'settings.json'), 'utf8')).toContain(`${api.url}/v1#qwen3`);
});

test('content of a folder and of ~/.claude needs approval before it applies, and the approval is stored', async () => {
  await using api = await startApiServer({ turns: [] });
  await project.write('../home/.claude/CLAUDE.md', 'Be kind.\n');
  await project.write('CLAUDE.md', 'Be brief.\n');
  const hook = { type: 'command', command: 'echo begun >> begun.txt' };
  const settings = { permissions: { allow: ['Bash(make:*)'] }, hooks: { SessionStart: [{ hooks: [hook] }] } };
  await project.write('.claude/settings.json', JSON.stringify(settings));
  const env = terminalEnvironment(project, api.url);
  {
    await using terminal = open(env);
    const rows = await terminal.waitForText(/esc exit/);
    expect(rows.join('\n')).toMatch(
      /runs +on SessionStart: echo[\s\S]*allows +Bash\(make:\*\)[\s\S]*reads +CLAUDE\.md/,
    );
    terminal.press('v');
    await terminal.waitForText(/Bash\(make:\*\).*\n?.*settings\.json/);
    terminal.press('esc');
    expect((await terminal.exited).code).toBe(0);
  }
  {
    await using terminal = open(env);
    await pressSuggested(terminal, /Yes, trust this folder/);
    await terminal.waitForText(
      /Copy your Claude Code settings\?[\s\S]*contains[\s▌]+CLAUDE\.md\.[\s▌]+ouro[\s▌]+has[\s▌]+not[\s▌]+read/,
    );
    await expect(project.read('begun.txt')).rejects.toThrow('ENOENT');
    await pressSuggested(terminal, /Yes, copy them/);
    // A long path is broken anywhere.
    await terminal.waitForScreen((rows) =>
      /Copiedfrom.*\.claude:CLAUDE\.md\..*ask/.test(rows.join('').replaceAll(/\s/g, '')),
    );
    // Nothing has been said yet.
    await expect.poll(() => project.read('begun.txt').catch(() => '')).toBe('begun\n');
  }
  expect(await readFile(join(project.ouroHome, 'CLAUDE.md'), 'utf8')).toBe('Be kind.\n');
  await using terminal = open(env);
  await terminal.waitForText(/^ +ask /m);
  expect(terminal.bytes()).not.toMatch(/trust this folder|copy them/i);
});

longTest('without trust the ignored instructions are named, and none of them is sent', async () => {
  await using api = await startApiServer({ turns: () => says('Hello there.') });
  await project.write('../home/notes.md', 'Herons of home.\n');
  await project.write('CLAUDE.md', 'Speak of herons. @~/notes.md\n');
  const env = terminalEnvironment(project, api.url);
  const say = async (choice: RegExp) => {
    await using terminal = open(env);
    // A long path makes the rows break anywhere.
    await terminal.waitForText(/reads +CLAUDE\.md[\s\S]*notes\.md,[\s▌]+outside[\s▌]+of[\s▌]+this[\s▌]+folder/);
    await pressSuggested(terminal, choice);
    await terminal.waitForText(/^ +ask /m);
    terminal.type('hello');
    terminal.press('enter');
    await terminal.waitForText(/Hello there\./);
    return terminal.logicalLines().join('\n');
  };
  const words = /so its instructions are not read \(CLAUDE\.md\)/;
  expect(await say(/No, work without its instructions and settings/)).toMatch(words);
  expect(
    api
      .requests()
      .map(({ raw }) => raw)
      .join(),
  ).not.toMatch(/herons/i);
  expect(await say(/Yes, trust this folder/)).not.toMatch(words);
  expect(api.requests().at(-1)?.raw).toMatch(/Speak of herons[\s\S]*Herons of home/);
});
