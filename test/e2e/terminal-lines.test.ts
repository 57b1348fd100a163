import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, status, text, toolUse } from '../support/api/reply.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';

const TURNS = [
  calls(text('I **make** it.'), toolUse('Bash', { command: 'echo made > made.txt; echo out' })),
  says('Made.\n\n- one\n- two'),
];

test.each(
  someOf(
    [
      ['--a11y', { args: ['--a11y'] }, /--a11y is given/],
      ['ACCESSIBLE', { env: { ACCESSIBLE: '1' } }, /ACCESSIBLE or OURO_A11Y is set/],
      ['TERM=dumb', { env: { TERM: 'dumb' } }, /TERM=dumb/],
    ],
    1,
  ),
)(
  'with %s the output is linear: everything is labelled, and questions are answered by number',
  async (_how, how, why) => {
    await using ouro = await openOuro(TURNS, { ...how, ready: /^You: /m });
    const { terminal } = ouro;
    expect(terminal.logicalLines().join('\n')).toMatch(why);
    terminal.type('make it\r');
    await terminal.waitForText(
      /Answer: I make it\.[\s\S]*Question: Run this command\?[\s\S]*1 or y: Yes[\s\S]*Type a number/,
    );
    terminal.type('?\r');
    await terminal.waitForText(/Type a number[\s\S]*Question: Run this command\?[\s\S]*Type a number/);
    terminal.type('1\r');
    await terminal.waitForText(/Tool Bash .*finished[\s\S]*Answer: Made\.[\s\S]*one[\s\S]*two/);
    expect(await ouro.project.read('made.txt')).toBe('made\n');
    terminal.type('/exit\r');
    expect((await terminal.exited).code).toBe(0);
    // Nothing moves up, nothing is erased but the line that is being typed.
    expect(terminal.bytes()).not.toMatch(/\x1b\[\d*A|\x1b\[2K|\x1b\[[23]J|\x1b\[\?(?:1049|2026|25)/);
    expect(terminal.bytes()).not.toMatch(/[◐◓◑◒│✓✗·…]/);
    if ('env' in how && 'TERM' in how.env) expect(terminal.bytes()).not.toContain('\x1b');
  },
);

longTest('/stop stops a run, lists are answered by number, and Enter alone resends a refused message', async () => {
  const long = says('word '.repeat(4000), { chunk: 10, delayMs: 5 });
  await using ouro = await openOuro([long, status(401), says('Heard at last.')], {
    args: ['--a11y'],
    ready: /^You: /m,
  });
  const { terminal } = ouro;
  terminal.type('go\r');
  await ouro.api.waitForRequest(1);
  terminal.type('/stop\r');
  await terminal.waitForText(/Stopped\./);
  terminal.type('/theme\r');
  await terminal.waitForText(/Theme:[\s\S]*1: auto[\s\S]*Type a number/);
  terminal.type('2\r');
  terminal.type('/effort\r');
  await terminal.waitForText(/Effort, for [\s\S]*1: auto, .*current[\s\S]*Type a number/);
  terminal.type('4\r');
  await terminal.waitForText(/Effort set to medium\./);
  terminal.type('/config theme\r');
  await terminal.waitForText(/Settings:\s+1: theme, [\s\S]*Type a number/);
  terminal.type('/model haiku\r');
  await terminal.waitForText(/Model set to claude-haiku/);
  terminal.type('and this?\r');
  await terminal.waitForText(/to send it\s+again\./);
  terminal.type('\r');
  await terminal.waitForText(/Heard at last\./);
  expect(
    ouro.api
      .requests()
      .at(-1)
      ?.raw.match(/and this\?/g),
  ).toHaveLength(1);
});

longTest('an unsent line is restored after a kill, and several lines with /draft', async () => {
  await using ouro = await openOuro([says('Heard.')], { args: ['--a11y'], ready: /^You: /m });
  const folder = () => readdir(join(ouro.project.ouroHome, 'projects')).then(([name = '']) => name);
  const draft = async () => {
    const drafts = join(ouro.project.ouroHome, 'projects', await folder(), 'drafts');
    const names = await readdir(drafts).catch(() => []);
    const path = join(drafts, names.find((name) => name.endsWith('.json')) ?? '');
    return { path, text: await readFile(path, 'utf8').catch(() => '') };
  };
  ouro.terminal.type('water the pl');
  await expect.poll(draft).toMatchObject({ text: expect.stringContaining('water the pl') });
  await ouro.terminal.kill();
  const second = ouro.again(['--a11y']);
  await second.waitForText(/Unsent draft restored in the line:[\s\S]*^You: water the pl/m);
  await expect.poll(draft).toMatchObject({ text: expect.stringContaining('water the pl') });
  await second.kill();
  const { path, text: stored } = await draft();
  await writeFile(path, stored.replace('water the pl', 'water the plants\\nand the cat'));
  const third = ouro.again(['--a11y']);
  await third.waitForText(/Unsent draft:\s+water the plants\s+and the cat\s+Type \/draft to send it\./);
  third.type('/draft\r');
  await third.waitForText(/Answer: Heard\./);
  expect(ouro.api.requests()[0]?.raw).toContain('water the plants\\nand the cat');
});

longTest(
  'an edit is changed in the editor before it is applied, or asked about again when the editor fails',
  async () => {
    const write = toolUse('Write', { file_path: 'note.txt', content: 'proposed\n' });
    await using ouro = await openOuro([calls(text('A note.'), write), says('Written.')], {
      args: ['--a11y'],
      ready: /^You: /m,
      env: { VISUAL: 'test -e ready && echo by hand >>' },
    });
    const { terminal } = ouro;
    terminal.type('note it\r');
    await terminal.waitForText(/e: edit first[\s\S]*Type a number/);
    terminal.type('e\r');
    await terminal.waitForText(/exited with 1; the text is/);
    await ouro.project.write('ready', '');
    terminal.type('e\r');
    await terminal.waitForText(/Answer: Written\./);
    expect(await ouro.project.read('note.txt')).toBe('proposed\nby hand\n');
  },
);
