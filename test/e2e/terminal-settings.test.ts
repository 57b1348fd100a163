import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { calls, delayed, says, text, toolUse } from '../support/api/reply.ts';
import { gate } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';

longTest('vim mode, custom keys, a status line script, and a theme that follows the terminal', async () => {
  await using ouro = await openOuro([says('Done.')], {
    background: 'light',
    env: { LANG: 'ja_JP.UTF-8', LC_ALL: 'ja_JP.UTF-8' },
    settings: {
      editorMode: 'vim',
      keybindings: { 'ctrl+k': 'send', 'ctrl+x t': 'transcript', 'ctrl+q': 'sned' },
      statusLine: {
        command: 'read -r facts; case $facts in *context_window*) echo my own line; echo and its second;; esac',
      },
    },
  });
  const { terminal } = ouro;
  expect(terminal.logicalLines().join('\n')).toMatch(/ctrl\+q: unknown action "sned"\. Did you mean send\?/);
  await terminal.waitForText(/^ {2}ask {3}my own line\n *and its second/m);
  // The terminal has said that it is light: the colours of the light theme are drawn.
  await terminal.waitForScreen(() => terminal.bytes().includes('38;2;36;86;201m'));

  // As a terminal answers whose signs are two columns wide: from now on they are ASCII.
  expect(terminal.bytes()).toContain('●\x1b[6n');
  terminal.send('\x1b[5;23R');
  await terminal.waitForText(/^\| Say[\s\S]*ask {3}my own line/m);

  terminal.type('one two three');
  await terminal.waitForText(/^[▌|] one two three/m);
  terminal.press('esc');
  await terminal.waitForText(/NORMAL/);
  terminal.type('0dwA!');
  await terminal.waitForText(/^[▌|] two three!/m);
  terminal.press('ctrl+k');
  await terminal.waitForText(/Done\./);
  terminal.press('ctrl+x');
  terminal.type('t');
  await terminal.waitForText(/q (?:back|closes|leaves)|\bq\b.*back/);
  terminal.type('q');
  terminal.type('/vim');
  await terminal.waitForText(/^[▌|] \/vim/m);
  terminal.press('enter');
  await terminal.waitForText(/Vim mode is off/);
  await expect
    .poll(() => readFile(join(ouro.project.ouroHome, 'settings.json'), 'utf8'))
    .toMatch(/"editorMode": ?"normal"/);
});

longTest(
  'notifications are sent only to users who looked away for a while; titles are set, without sequences of a prompt',
  async () => {
    const answering = gate();
    await using ouro = await openOuro([delayed(answering.closed, says('Done.'))], { settings: { notify: 'bell' } });
    const { terminal } = ouro;
    terminal.send('\x1b[O');
    terminal.paste('look\x1b]2;evil\x07 here');
    await terminal.waitForText(/^[▌|] look/m);
    terminal.press('enter');
    await terminal.waitForScreen(() => terminal.bytes().includes('look here\x07'));
    answering.open();
    await terminal.waitForText(/Done\./);
    await terminal.waitForScreen(() => /look here\x07[\s\S]*\x1b\]2;ouro\x07/.test(terminal.bytes()));
    const titles = [...terminal.bytes().matchAll(/\x1b\]2;([^\x07]*)\x07/g)].map(([, title]) => title);
    expect(titles).toContain('● ouro: look here');
    expect(titles.at(-1)).toBe('ouro');
    // It took no ten seconds, so nobody is called.
    expect(terminal.bytes().replaceAll(/\x1b\][^\x07]*\x07/g, '')).not.toContain('\x07');
  },
);

longTest.each(
  someOf(
    [
      // The cursor is on the first option once it hears keys.
      ['20 columns', { cols: 20, rows: 24 }, {}],
      ['8 rows', { cols: 80, rows: 8 }, {}],
      ['no colour', { cols: 80, rows: 24 }, { NO_COLOR: '1' }],
      [
        'a terminal without any modern protocol',
        { cols: 80, rows: 24, background: 'mute' as const },
        { TERM: 'vt100', COLORTERM: '', LANG: 'C' },
      ],
    ],
    1,
  ),
)('with %s a command can be asked about and answered, and its answer read', async (_what, size, env) => {
  await using ouro = await openOuro(
    [calls(text('I make it.'), toolUse('Bash', { command: 'echo made > made.txt' })), says('Made.')],
    { ...size, env },
  );
  const { terminal } = ouro;
  terminal.type('make it');
  await terminal.waitForText(/^[▌|] make it/m);
  terminal.press('enter');
  await terminal.waitForText(/[❯>] 1 {2}y {2}Yes$/m);
  terminal.press('y');
  await terminal.waitForText(/Made\./);
  expect(await ouro.project.read('made.txt')).toBe('made\n');
  const painted = terminal.bytes();
  if ('NO_COLOR' in env) expect(painted).not.toMatch(/\x1b\[[\d;]*(?:3[0-8]|4[0-8]|9[0-7])(?:;[\d;]*)?m/);
  if ('LANG' in env) expect(painted.replaceAll(/\x1b\][^\x07]*\x07/g, '')).toMatch(/^[\x00-\x7f]*$/);
  expect(painted).not.toMatch(/\x1b\[[23]J/);
});

longTest('a custom theme is used, reloaded when its file is saved, and its errors are reported', async () => {
  await using ouro = await openOuro([]);
  const { terminal, project } = ouro;
  const folder = join(project.ouroHome, 'themes');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'mine.json'), '{ "base": "light", "accent": "#010203" }');
  terminal.type('/theme');
  await terminal.waitForText(/^[▌|] \/theme/m);
  terminal.press('enter');
  await terminal.waitForText(/mine +custom/);
  terminal.type('mine');
  await terminal.waitForText(/1 of \d+/);
  terminal.press('enter');
  await terminal.waitForScreen(() => terminal.bytes().includes('38;2;1;2;3m'));
  await writeFile(join(folder, 'mine.json'), '{ "accent": "#040506" }');
  await terminal.waitForScreen(() => terminal.bytes().includes('38;2;4;5;6m'));
  await writeFile(join(folder, 'mine.json'), '{ "acent": "#040506" }');
  await terminal.waitForText(/mine\.json\s+is\s+ignored:\s+unknown\s+key\s+"acent"/);
});
