import { expect, test } from 'vitest';
import { bytesOfKey } from '../support/terminal/key-bytes.ts';
import { createScreen } from '../support/terminal/terminal-screen.ts';
import { openTerminal, type TerminalOptions } from '../support/terminal/virtual-terminal.ts';

const OPTIONS: TerminalOptions = {
  cwd: '/',
  env: { PATH: '/usr/bin:/bin', TERM: 'xterm-256color', PS1: '$ ', LANG: 'C.UTF-8' },
};
const bash = (script: string, options: Partial<TerminalOptions> = {}) =>
  openTerminal(['bash', '-c', script], { ...OPTIONS, ...options });

test('a shell has a terminal, its size, input, and exit code', async () => {
  await using terminal = bash('tty; stty size; read -r line; echo "you said: $line"; exit 3', { cols: 50, rows: 12 });
  await terminal.waitForText(/12 50/);
  terminal.type('héllo 🌞');
  terminal.press('enter');
  const rows = await terminal.waitForText(/you said: héllo 🌞/);
  expect(rows[0]).toMatch(/^\/dev\/pts\/\d+$/);
  expect(rows).toHaveLength(12);
  expect(await terminal.exited).toEqual({ code: 3, signal: null });
});

test('a resize reaches the program', async () => {
  await using terminal = bash('trap "stty size" WINCH; echo ready; while :; do read -r -t 1 _; done');
  await terminal.waitForText(/ready/);
  terminal.resize({ cols: 33, rows: 9 });
  await terminal.waitForText(/9 33/);
  expect(terminal.screen()).toHaveLength(9);
});

test('ctrl+c interrupts, and closing the terminal ends the program', async () => {
  await using first = bash('echo ready; sleep 60');
  await first.waitForText(/ready/);
  first.press('ctrl+c');
  expect(await first.exited).toEqual({ code: null, signal: 'SIGINT' });
  await using second = bash('echo ready; sleep 60');
  await second.waitForText(/ready/);
  second.hangUp();
  expect(await second.exited).toEqual({ code: null, signal: 'SIGHUP' });
});

test.each([
  ['its kind', '\\033[c', /\^\[\[\?1;2c/],
  ['its cursor', '\\033[6n', /\^\[\[1;1R/],
  ['its background', '\\033]11;?\\033\\\\', /\^\[\]11;rgb:1e1e\/1e1e\/1e1e/],
])('the terminal answers a query about %s', async (_name, question, answer) => {
  await using terminal = bash(`printf '${question}'; sleep 60`);
  await terminal.waitForText(answer);
});

test('a paste is bracketed only when enabled', async () => {
  await using terminal = bash('stty -echo; echo ready; cat -v');
  await terminal.waitForText(/ready/);
  terminal.paste('one\n');
  await terminal.waitForText(/^one$/m);
  terminal.feed('\x1b[?2004h');
  await terminal.settled();
  terminal.paste('two\n');
  terminal.press('enter');
  await terminal.waitForText(/\^\[\[200~two/);
});

test('the scrollback keeps what left the screen, wrapped rows are one line, and no byte is lost', async () => {
  await using terminal = bash(
    'for i in 1 2 3 4 5 6; do echo "line $i"; done; echo "a word and another word"; sleep 60',
    {
      cols: 12,
      rows: 5,
    },
  );
  await terminal.waitForText(/word$/m);
  expect(terminal.scrollback()).toEqual(['line 1', 'line 2', 'line 3', 'line 4']);
  expect(terminal.screen()).toEqual(['line 5', 'line 6', 'a word and a', 'nother word', '']);
  expect(terminal.cursor()).toEqual({ x: 0, y: 4 });
  expect(terminal.logicalLines().at(-1)).toBe('a word and another word');
  expect(terminal.bytes()).toContain('line 1\r\n');
});

test('a failed wait shows the current screen instead', async () => {
  const view = createScreen({ cols: 10, rows: 2 });
  view.feed('other');
  await view.waitForText(/other/);
  await expect(view.waitForText(/wanted/, 20)).rejects.toThrow('Not on the screen after 20 ms:\n│other\n│');
  await expect(view.waitForScreen((rows) => rows[0] === 'other')).resolves.toEqual(['other', '']);
});

test.each([
  ['enter', '\r'],
  ['shift+tab', '\x1b[Z'],
  ['ctrl+c', '\x03'],
  ['ctrl+_', '\x1f'],
  ['ctrl+left', '\x1b[1;5D'],
  ['alt+b', '\x1bb'],
  ['alt+enter', '\x1b\r'],
  ['shift+enter', '\x1b[13;2u'],
  ['up', '\x1b[A'],
  ['ä', 'ä'],
])('%s has the bytes xterm sends', (key, bytes) => {
  expect(bytesOfKey(key)).toBe(bytes);
});

test('cursor keys follow the mode of the program, and unknown keys are refused', () => {
  expect(bytesOfKey('up', 'application')).toBe('\x1bOA');
  expect(() => bytesOfKey('hyper+x')).toThrow('hyper+x');
});
