import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { renderFlagsPage, renderManPage } from '../../src/cli/commands/completion.ts';
import {
  listCompletionCommands,
  listCompletionFlags,
  renderBashCompletion,
  renderFishCompletion,
  renderZshCompletion,
} from '../../src/cli/completion-scripts.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

const folder = createTempFolder();
const file = join(folder, 'ouro.bash');
writeFileSync(file, renderBashCompletion());

/** What a real bash would offer for a line. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const line = `source '${file}'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ouro; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('/bin/bash', ['-c', line, 'bash', ...words]);
  return stdout.split('\n').filter((word) => word !== '');
}

test.each([
  [['ouro', 'doc'], ['doctor']],
  [
    ['ouro', '--perm'],
    ['--permission-mode', '--permission-prompt-tool', '--permission-prompts'],
  ],
  [['ouro', '--permission-mode', 'p'], ['plan']],
  [['ouro', '--output-format', 'j'], ['json']],
  [['ouro', 'completion', 'z'], ['zsh']],
  [
    ['ouro', 'acp', '--'],
    ['--model', '--permission-mode', '--trust', '--settings', '--debug-file', '--login'],
  ],
  [['ouro', 'fix', 'doc'], []],
])('bash offers for %j', async (words, expected) => {
  expect(await offered(...words)).toEqual(expected);
});

test.each([
  ['files', '--debug-file my', /<--debug-file><my notes.txt>/],
  ['folders', '--add-dir her', /<--add-dir><her project\/>/],
  ['files of a folder', '--debug-file "in him/b', /<--debug-file><in him\/by hand>/],
])('a real bash completes %s with blanks in their names to one word', async (_, typed, completed) => {
  for (const name of ['her project', 'in him']) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['my notes.txt', 'in him/by hand']) writeFileSync(join(folder, name), '');
  const env = { PATH: '/usr/bin:/bin', TERM: 'xterm', HOME: folder, PS1: 'ready> ' };
  await using terminal = openTerminal(['/bin/bash', '--noprofile', '--norc', '-i'], { cwd: folder, env });
  await terminal.waitForText(/ready>/);
  terminal.type(`source ouro.bash; ouro() { printf '<%s>' "$@"; }\r`);
  terminal.type(`ouro ${typed}\t\r`);
  await terminal.waitForText(completed);
});

const names = listCompletionFlags()
  .flatMap((flag) => flag.names)
  .filter((name) => name.startsWith('--'));

test.each([
  ['bash', renderBashCompletion(), (name: string) => name],
  ['zsh', renderZshCompletion(), (name: string) => `${name}[`],
  ['fish', renderFishCompletion(), (name: string) => `-l ${name.slice(2)} `],
])('%s knows every flag and every command', (_, script, spelled) => {
  expect(names.filter((name) => !script.includes(spelled(name)))).toEqual([]);
  expect(listCompletionCommands().filter(({ name }) => !script.includes(name))).toEqual([]);
});

test('no quote in a description ends a quoted word', () => {
  const lines = [...renderZshCompletion().split('\n'), ...renderFishCompletion().split('\n')];
  expect(lines.filter((line) => (line.match(/'/g)?.length ?? 0) % 2 === 1)).toEqual([]);
});

test('the Markdown page has a row for every flag and a section for every command', () => {
  const page = renderFlagsPage();
  const listed = names.filter((name) => !['--help', '--version'].includes(name));
  expect(listed.filter((name) => !page.includes(`\`${name}`) && !page.includes(` ${name}`))).toEqual([]);
  expect(listCompletionCommands().filter(({ name }) => !page.includes(`\n### ouro ${name}\n`))).toEqual([]);
});

test('the man page shows every flag with dashes that can be copied', () => {
  const page = renderManPage();
  expect(page.startsWith('.TH OURO 1\n')).toBe(true);
  expect(page).toMatch(/^[\n -~]*$/);
  expect(page).toContain('.B \\-\\-permission\\-mode <mode>');
  expect(page).toContain('.br\n\\-\\-debug\\-file <file>: write the debug log to this file');
  expect(page.split('\n').filter((line) => /^[.'](?!(TH|SH|SS|TP|B|br)\b)/.test(line))).toEqual([]);
});
