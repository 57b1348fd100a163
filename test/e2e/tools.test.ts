import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { calls, delayed, says, text, toolUse } from '../support/api/reply.ts';
import { gate, startApiServer } from '../support/api/server.ts';
import { citedText, webSearch } from '../support/api/server-blocks.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER, startOuro } from '../support/run-ouro.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

let project: TempProject;

beforeEach(async () => {
  project = await createTempProject({
    'a.txt': 'alpha\n',
    '.claude/skills/greet/SKILL.md': '---\nname: greet\ndescription: how to greet\n---\nSay hello twice.\n',
  });
});

afterEach(() => project.remove());

/** The tools that are described in every run; those for plans and questions depend on who is there to answer. */
const BUILT_IN = [
  ...['Bash', 'BashOutput', 'Edit', 'Glob', 'Grep', 'KillShell', 'Read', 'Skill', 'Task', 'TodoWrite', 'ToolSearch'],
  ...['WebFetch', 'WebSearch', 'Write'],
];

test('every tool has its known name, all together under six thousand tokens', async () => {
  await using server = await startApiServer({
    turns: [calls(toolUse('Skill', { name: 'greet', args: 'Ann' }, 'toolu_skill')), says('Hello, hello.')],
  });
  const { code } = await runHere(project, ['-p', 'greet Ann', '--trust'], server.url);
  expect(code).toBe(0);
  const tools: readonly { readonly name: string }[] = JSON.parse(server.requests()[0]?.raw ?? '{}').tools;
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(BUILT_IN));
  // Three and a half characters a token is what tool definitions come to at worst.
  expect(JSON.stringify(tools).length / 3.5).toBeLessThan(6000);
  expect(server.requests()[0]?.raw.length).toBeLessThan(30_000);
  expect(server.requests()[1]?.raw).toContain('Say hello twice.\\n\\nARGUMENTS: Ann');
});

longTest(
  'a web search is run by the provider in a side request and counted; a model without one does not have it',
  async () => {
    const pages = [{ url: 'https://example.com/news', title: 'News' }];
    await using server = await startApiServer({
      turns: [
        calls(toolUse('WebSearch', { query: 'ouro', allowed_domains: ['https://example.com/x'] })),
        says('Found.'),
      ],
      side: ({ raw }) =>
        raw.includes('web_search_20250305')
          ? { ...says(''), blocks: [...webSearch('ouro', pages), citedText('It is new.', pages)] }
          : undefined,
    });
    const args = ['-p', 'look it up', '--allowedTools', 'WebSearch', '--output-format', 'json'];
    const { code, stdout } = await runHere(project, args, server.url);
    expect(code).toBe(0);
    expect(server.sideRequests()[0]?.body.tools).toMatchObject([
      { name: 'web_search', allowed_domains: ['example.com'] },
    ]);
    expect(server.requests()[1]?.raw).toContain('It is new.');
    expect(server.requests()[1]?.raw).toContain('News — https://example.com/news');
    expect(Object.keys(JSON.parse(stdout).modelUsage)).toHaveLength(2);

    await using local = await startOpenAiServer({ turns: [says('fine')] });
    await runHere(project, ['-p', 'hi', '--model', `${local.url}/v1#small`]);
    expect(local.requests()[0]?.raw).toContain('"WebFetch"');
    expect(local.requests()[0]?.raw).not.toContain('"WebSearch"');
  },
);

longTest('a page in the private network is not fetched, whatever is allowed', async () => {
  await using server = await startApiServer({
    turns: [calls(toolUse('WebFetch', { url: 'http://127.0.0.1:1/', prompt: 'what?' })), says('No.')],
  });
  const { code } = await runHere(project, ['-p', 'go', '--allowedTools', 'WebFetch'], server.url);
  expect(code).toBe(0);
  expect(server.requests()[1]?.raw).toMatch(/not on the public internet|private|loopback/);
  expect(server.sideRequests()).toEqual([]);
});

test('a call runs while its reply still streams, and read-only calls run in parallel', async () => {
  const { closed, open } = gate();
  const beat = (id: string) => toolUse('Read', { file_path: 'a.txt' }, id);
  await using server = await startApiServer({
    turns: [
      {
        ...calls(text('I look.'), beat('one'), beat('two')),
        faults: [{ at: 'message_delta', do: 'wait', until: closed, pings: 'pings' }],
      },
      says('Done.'),
    ],
  });
  await using running = startOuro(project, ['-p', 'go', '--output-format', 'stream-json', '--verbose'], server.url);
  // Both results are there although the reply has not ended.
  await running.waitForOutput(/tool_result[\s\S]*tool_result/);
  open();
  expect((await running.ended).code).toBe(0);
});

longTest('a notebook is read by cell, and one cell is edited', async () => {
  const cell = { cell_type: 'code', id: 'c1', metadata: {}, execution_count: null, outputs: [], source: ['a = 1\n'] };
  const book = JSON.stringify(
    { cells: [cell], metadata: { kept: 'as it is' }, nbformat: 4, nbformat_minor: 5 },
    null,
    1,
  );
  const path = await project.write('n.ipynb', '');
  await writeFile(path, book);
  await using server = await startApiServer({
    turns: [
      calls(toolUse('Read', { file_path: path })),
      calls(toolUse('NotebookEdit', { notebook_path: path, cell_id: 'c1', new_source: 'a = 2\n' })),
      says('Done.'),
    ],
  });
  const { code } = await runHere(project, ['-p', 'go', '--permission-mode', 'acceptEdits'], server.url);
  expect(code).toBe(0);
  expect(await project.read('n.ipynb')).toBe(book.replace('a = 1', 'a = 2'));
});

longTest('several calls are summarized in a line by the small model, on the screen only', async () => {
  const { closed, open } = gate();
  const look = (id: string) => toolUse('Read', { file_path: 'a.txt' }, id);
  await mkdir(project.ouroHome, { recursive: true });
  await writeFile(join(project.ouroHome, 'settings.json'), JSON.stringify({ callSummaries: true }));
  await using server = await startApiServer({
    turns: [calls(look('one'), look('two'), look('three')), delayed(closed, says('Read it all.'))],
    side: ({ body }) => (String(body.model).includes('haiku') ? says('Looked at a.txt three times') : undefined),
  });
  await using terminal = openTerminal([LAUNCHER, '--trust'], {
    cwd: project.dir,
    env: terminalEnvironment(project, server.url),
  });
  await terminal.waitForText(/^[▌|]/m);
  terminal.type('look');
  terminal.press('enter');
  await terminal.waitForText(/Looked at a\.txt three times/);
  open();
  await terminal.waitForText(/Read it all\./);
  expect(server.sideRequests().filter(({ raw }) => raw.includes('Read: '))).toHaveLength(1);
});

longTest('commands can use rg on a machine that has none', async () => {
  await using server = await startApiServer({
    turns: [calls(toolUse('Bash', { command: 'rg --no-heading -n alpha a.txt; command -v rg' })), says('done')],
  });
  const { code } = await startOuro(project, ['-p', 'search'], server.url, { env: { PATH: '/usr/bin:/bin' } }).ended;
  expect(code).toBe(0);
  expect(server.requests().at(-1)?.raw).toContain('1:alpha');
});
