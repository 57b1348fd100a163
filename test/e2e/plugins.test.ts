import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

const STUB = join(import.meta.dirname, '../support/lsp-stub.mjs');
const ROOT = ['$', '{CLAUDE_PLUGIN_ROOT}'].join('');
const DATA = ['$', '{CLAUDE_PLUGIN_DATA}'].join('');
const HOOKS = {
  UserPromptSubmit: [
    { hooks: [{ type: 'command', command: `cat "${ROOT}/words.txt"; echo 1 >> "$CLAUDE_PLUGIN_DATA/seen"` }] },
  ],
};

/** A marketplace as people publish one: a plugin of each kind of part, and one that says all in the list. */
async function marketplace(project: TempProject): Promise<void> {
  const write = (path: string, text: string | object) =>
    project.write(`../market/${path}`, typeof text === 'string' ? text : JSON.stringify(text));
  await write('.claude-plugin/marketplace.json', {
    name: 'acme-tools',
    owner: { name: 'Acme' },
    plugins: [
      { name: 'kit', source: './plugins/kit', description: 'A kit' },
      { name: 'bare', source: './plugins/bare', strict: false, commands: './custom' },
      { name: 'far', source: { source: 'pip', package: 'far' } },
      { name: 'out', source: '../../etc' },
    ],
  });
  await write('plugins/kit/.claude-plugin/plugin.json', { name: 'kit', version: '1.2.0', author: { name: 'Acme' } });
  await write('plugins/kit/commands/ship.md', '---\ndescription: Ships\n---\nShip $0.');
  await write('plugins/kit/skills/pdf/SKILL.md', `---\ndescription: Reads PDFs\n---\nIn ${ROOT}, with ${DATA}.`);
  await write('plugins/kit/agents/README.md', '# Our critics');
  await write('plugins/kit/agents/critic.md', '---\nname: critic\ndescription: Criticises\n---\nYou criticise.');
  await write('plugins/kit/hooks/hooks.json', { hooks: HOOKS });
  await write('plugins/kit/words.txt', 'words of the kit');
  await write('plugins/kit/.mcp.json', { mcpServers: { docs: { command: `${ROOT}/server`, args: ['--x'] } } });
  await write('plugins/kit/.lsp.json', {
    words: { command: 'wordsd', args: ['--stdio'], extensionToLanguage: { word: 'words' } },
  });
  await write('plugins/kit/monitors/monitors.json', [
    { name: 'log', command: 'tail -F build.log', description: 'Build log', when: 'on-skill-invoke:pdf' },
    { name: 'bad', command: 'true', when: 'sometimes' },
  ]);
  await write('plugins/kit/themes/dusk.json', { name: 'Dusk', base: 'dark', overrides: { error: '#ff5555' } });
  await write('plugins/bare/custom/hi.md', 'Hi.');
}

test('a plugin is added from a marketplace, shown, enabled, used, pinned to its content and removed', async () => {
  await using project = await createTempProject();
  await marketplace(project);
  const plugin = (...words: readonly string[]) => runHere(project, ['plugin', ...words]);
  expect((await plugin('marketplace', 'add', '../market')).stdout).toContain('kit@acme-tools  A kit');
  const installed = await plugin('install', 'kit');
  expect(installed.stdout).toContain('kit@acme-tools 1.2.0 is installed. It provides:');
  expect(installed.stdout).toMatch(/hook: on UserPromptSubmit: cat ".*cache.*\/words.txt"/);
  expect(installed.stdout).toMatch(/server: docs: \/.*\/server --x/);
  expect(installed.stdout).toContain('language server: wordsd --stdio for .word');
  expect(installed.stdout).toContain('monitor: kit:log, from the first use of kit:pdf: tail -F build.log');
  expect(installed.stdout).not.toContain('not supported');
  expect(installed.stdout).toContain('is not enabled yet.');
  expect((await plugin('install', 'bare', '--yes')).stdout).toContain('Plugin bare@acme-tools enabled.');
  expect((await plugin('install', 'far')).stderr).toContain('is not supported');
  expect((await plugin('install', 'out')).stderr).toContain('is outside the marketplace');
  await using server = await startApiServer({
    turns: ({ raw }) => (raw.includes('toolu_1') ? says('Done.') : calls(toolUse('Skill', { name: 'pdf' }, 'toolu_1'))),
  });
  const seen = async () => {
    const made = await composed(project, server.url, { frontend: 'print' });
    try {
      await made.conversation.agent.prompt('go');
      const { agents, warnings, mcpServers } = made.conversation.info();
      const names = made.conversation.commands().map(({ name }) => name);
      return {
        raw: server.requests().at(-1)?.raw ?? '',
        agents,
        warnings,
        names,
        servers: mcpServers.map(({ name }) => name),
        themes: (await made.conversation.themes?.read())?.map(({ name }) => name),
      };
    } finally {
      await made.close();
    }
  };
  const off = await seen();
  expect(off.names).toContain('bare:hi');
  expect(off.names).not.toContain('kit:ship');
  expect(off.raw).not.toContain('words of the kit');
  await plugin('enable', 'kit');
  const on = await seen();
  expect(on.names).toEqual(expect.arrayContaining(['kit:ship', 'kit:pdf', 'bare:hi']));
  expect(on.agents).toContain('kit:critic');
  expect(on.warnings).toEqual([expect.stringContaining('monitors.json: monitor 2 is ignored: it needs a name')]);
  expect(on.servers).toEqual(['plugin_kit_docs']);
  expect([off.themes, on.themes]).toEqual([[], ['kit:dusk']]);
  expect(on.raw).toContain('words of the kit');
  expect(on.raw).toMatch(/In \/[^,]+cache[^,]+, with \/[^,]+plugins\/data\/kit@acme-tools\.\\?"?/);
  expect(await readFile(join(project.ouroHome, 'plugins/data/kit@acme-tools/seen'), 'utf8')).toBe('1\n');
  const folder = /(\/.+cache\/kit\S+)/.exec((await plugin('list')).stdout)?.[1] ?? '';
  await writeFile(join(folder, 'words.txt'), 'other words');
  const changed = await seen();
  expect(changed.names).not.toContain('kit:ship');
  expect(changed.warnings.join()).toContain('was modified after kit@acme-tools was installed');
  expect((await plugin('remove', 'kit')).stdout).toContain('removed');
  await expect(readFile(join(project.ouroHome, 'plugins/data/kit@acme-tools/seen'))).rejects.toThrow('ENOENT');
  expect(await readFile(join(project.ouroHome, 'settings.json'), 'utf8')).not.toContain('kit');
});

longTest(
  'the lists of a marketplace decide what is taken: four skills of many, one file of a folder, no hook',
  async () => {
    await using project = await createTempProject();
    const write = (path: string, text: string) => project.write(`../market/${path}`, text);
    const documents = ['docx', 'pdf', 'pptx', 'xlsx'];
    for (const name of [...documents, 'art', 'theme', 'mcp-builder'])
      await write(`skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does ${name}\n---\nText.`);
    await write('commands/one.md', '---\nallowed-tools: Bash(ls:*)\n---\nOne.');
    await write('commands/two.md', 'Two.');
    await write('hooks/hooks.json', JSON.stringify({ hooks: HOOKS }));
    const plugins = [
      { name: 'documents', source: './', strict: false, skills: documents.map((name) => `./skills/${name}`) },
      { name: 'single', source: './', strict: false, commands: ['./commands/one.md'] },
    ];
    await write('.claude-plugin/marketplace.json', JSON.stringify({ name: 'many', plugins }));
    const plugin = (...words: readonly string[]) => runHere(project, ['plugin', ...words]);
    await plugin('marketplace', 'add', '../market');
    const lines = (await plugin('install', 'documents', '--yes')).stdout.split('\n').map((line) => line.trim());
    expect(lines.slice(1, 3)).toEqual(['4 skills: docx, pdf, pptx, xlsx', expect.stringContaining('enabled')]);
    const single = (await plugin('install', 'single', '--yes')).stdout.split('\n').map((line) => line.trim());
    expect(single.slice(1, 3)).toEqual(['/single:one may run Bash(ls:*) without asking', '1 command: one']);
    const made = await composed(project, 'http://127.0.0.1:9', { frontend: 'print' });
    const names = made.conversation.commands().map(({ name }) => name);
    await made.close();
    expect(names.filter((name) => name.includes(':'))).toEqual([
      ...documents.map((name) => `documents:${name}`),
      'single:one',
    ]);
  },
);

longTest('a third-party marketplace cannot have the name of an official one', async () => {
  await using project = await createTempProject();
  const list = JSON.stringify({ name: 'claude-plugins-official', plugins: [] });
  await project.write('../market/.claude-plugin/marketplace.json', list);
  const { code, stderr } = await runHere(project, ['plugin', 'marketplace', 'add', '../market']);
  expect(code).toBe(1);
  expect(stderr).toContain("claude-plugins-official is a name of Anthropic's own marketplaces");
});

longTest('a git marketplace is pinned to a commit; an update applies after it was reviewed', async () => {
  await using project = await createTempProject();
  await marketplace(project);
  const git = (...args: readonly string[]) => project.git('-C', '../market', ...args);
  await git('init', '-q');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'first');
  const first = (await git('rev-parse', 'HEAD')).trim();
  const address = pathToFileURL(join(project.dir, '../market')).href;
  const plugin = (...words: readonly string[]) => runHere(project, ['plugin', ...words]);
  await plugin('marketplace', 'add', address);
  expect((await plugin('install', 'kit', '--yes')).stdout).toContain(`at commit ${first.slice(0, 12)} is installed`);
  await project.write('../market/plugins/kit/words.txt', 'newer words');
  await git('commit', '-q', '-a', '-m', 'second');
  expect((await plugin('list')).stdout).toContain(`on  kit@acme-tools 1.2.0 (${first.slice(0, 12)})`);
  expect((await plugin('update')).stdout).toContain('is not enabled yet.');
  expect((await plugin('list')).stdout).toMatch(/off kit@acme-tools/);
  expect((await plugin('update')).stdout).toContain('Plugin kit@acme-tools is up to date.');
  expect((await plugin('validate', '../market')).stdout).toMatch(
    /far: its source[\s\S]*out: \.\.\/\.\.\/etc is outside the marketplace/,
  );
  expect((await plugin('marketplace', 'add', '--', '--upload-pack=x')).code).toBe(1);
});

test('--plugin-dir adds a folder for one run, and a project can only enable installed plugins', async () => {
  await using project = await createTempProject({
    '.claude/settings.json': JSON.stringify({ enabledPlugins: { 'kit@acme-tools': true } }),
  });
  await marketplace(project);
  await using server = await startApiServer({ turns: () => says('Done.') });
  const made = await composed(project, server.url, {
    pluginDirs: [{ folder: join(project.dir, '../market/plugins/kit'), servers: 'started' }],
  });
  try {
    expect(made.conversation.commands().map(({ name }) => name)).toContain('kit:ship');
    expect(made.conversation.info().warnings.join()).toContain('which is not installed');
  } finally {
    await made.close();
  }
});

longTest('names and paths of a marketplace cannot leave its folder', async () => {
  await using project = await createTempProject();
  const plugin = (...words: readonly string[]) => runHere(project, ['plugin', ...words]);
  const list = (name: string, source: unknown) =>
    project.write('../bad/.claude-plugin/marketplace.json', JSON.stringify({ name, plugins: [{ name: 'x', source }] }));
  await list('..', './x');
  expect((await plugin('marketplace', 'add', '../bad')).stderr).toContain('"name" must be letters');
  await list('bad', { source: 'git-subdir', url: 'https://127.0.0.1/x.git', path: '../..' });
  await plugin('marketplace', 'add', '../bad');
  expect((await plugin('install', 'x')).stderr).toContain('../.. is outside its repository');
});

test('the language server of a plugin reports what an edit breaks with the next request, and ends with ouro', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  const log = join(project.dir, '../lsp.log');
  const entry = {
    command: process.execPath,
    args: [`${ROOT}/server.mjs`],
    env: { STUB_LOG: log },
    extensionToLanguage: { '.word': 'words' },
  };
  await project.write(
    '../kit/.claude-plugin/plugin.json',
    JSON.stringify({ name: 'kit', lspServers: { words: entry } }),
  );
  await project.write('../kit/server.mjs', await readFile(STUB, 'utf8'));
  const path = join(project.dir, 'a.word');
  await using server = await startApiServer({
    turns: ({ raw }) => {
      if (raw.includes('toolu_3')) return says('Done.');
      if (raw.includes('toolu_2'))
        return calls(toolUse('LSP', { operation: 'hover', file_path: 'a.word', line: 1, character: 1 }, 'toolu_3'));
      return raw.includes('toolu_1')
        ? calls(toolUse('Edit', { file_path: path, old_string: 'good', new_string: 'bad' }, 'toolu_2'))
        : calls(toolUse('Read', { file_path: path }, 'toolu_1'));
    },
  });
  const made = await composed(project, server.url, {
    pluginDirs: [{ folder: join(project.dir, '../kit'), servers: 'started' }],
    permissionMode: 'acceptEdits',
  });
  await made.conversation.agent.prompt('go');
  const reported = server.requests().map(({ raw }) => raw.includes('a.word:1:1 error: The word'));
  expect(reported).toEqual([false, false, true, true]);
  expect(server.requests()[3]?.raw).toContain('**bad** is a word.');
  const notices = made.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  expect(notices).toContain('kit:words found a new problem in a.word.');
  await made.close();
  expect((await readFile(log, 'utf8')).trim().split('\n').at(-1)).toContain('"exit"');
});

longTest('a plugin without language servers has no tool for them, and its errors are reported', async () => {
  await using project = await createTempProject();
  await project.write(
    '../kit/.lsp.json',
    JSON.stringify({
      a: { command: 'a' },
      b: { command: 'b', transport: 'socket', extensionToLanguage: { '.b': 'b' } },
    }),
  );
  await using server = await startApiServer({ turns: () => says('Done.') });
  const made = await composed(project, server.url, {
    pluginDirs: [{ folder: join(project.dir, '../kit'), servers: 'started' }],
  });
  await made.conversation.agent.prompt('go');
  expect(server.requests()[0]?.raw).not.toContain('"LSP"');
  const warnings = made.conversation.info().warnings.join('\n');
  expect(warnings).toContain('"lspServers.a.extensionToLanguage":');
  expect(warnings).toContain('"lspServers.b.transport": can only be stdio. This language server is ignored.');
  await made.close();
});

const OPTION = (key: string) => ['$', `{user_config.${key}}`].join('');

/** A plugin with options, one of them sensitive, and each place in which their values are used. */
async function marketWithOptions(project: TempProject): Promise<void> {
  const write = (path: string, text: string | object) =>
    project.write(`../market/${path}`, typeof text === 'string' ? text : JSON.stringify(text));
  await write('.claude-plugin/marketplace.json', {
    name: 'acme-tools',
    owner: { name: 'Acme' },
    plugins: [{ name: 'tracker', source: './tracker' }],
  });
  await write('tracker/.claude-plugin/plugin.json', {
    name: 'tracker',
    userConfig: {
      url: { type: 'string', title: 'Address', description: 'Where the tracker runs', required: true },
      pages: { type: 'number', title: 'Pages', default: 5, min: 1, max: 50 },
      token: { type: 'string', title: 'Token', sensitive: true },
    },
  });
  await write(
    'tracker/skills/look/SKILL.md',
    `---\ndescription: Looks\n---\nAt ${OPTION('url')}, ${OPTION('pages')}, ${OPTION('token')}.`,
  );
  await write('tracker/hooks/hooks.json', {
    hooks: {
      UserPromptSubmit: [
        {
          hooks: [
            {
              type: 'command',
              command:
                'echo "hook: $CLAUDE_PLUGIN_OPTION_URL" $(test -n "$CLAUDE_PLUGIN_OPTION_TOKEN" && echo with a token)',
            },
          ],
        },
        { hooks: [{ type: 'command', command: 'echo', args: ['args:', OPTION('url')] }] },
      ],
    },
  });
  await write('tracker/.mcp.json', {
    mcpServers: { t: { url: `${OPTION('url')}/mcp`, headers: { authorization: OPTION('token') } } },
  });
}

test('options of a plugin are asked for before it is used, and a sensitive one is no text for the model', async () => {
  await using project = await createTempProject();
  await marketWithOptions(project);
  const plugin = (words: readonly string[], stdin?: string) =>
    runHere(project, ['plugin', ...words], undefined, stdin === undefined ? {} : { stdin });
  await plugin(['marketplace', 'add', '../market']);
  expect((await plugin(['install', 'tracker'])).stdout).toContain('options: url, pages, token');
  expect(await plugin(['enable', 'tracker'])).toMatchObject({
    code: 1,
    stderr:
      'Plugin tracker@acme-tools is not enabled: url is not set. Set it with: ouro plugin configure tracker@acme-tools\n',
  });
  expect(await plugin(['configure', 'tracker', 'pages=99'])).toMatchObject({
    code: 1,
    stderr: 'pages must be at most 50.\n',
  });
  expect((await plugin(['configure', 'tracker', 'token=abc'])).stderr).toContain('other users could read an argument');
  await using tracker = await startApiServer({ turns: () => says('no MCP') });
  await plugin(['configure', 'tracker', `url=${tracker.url}`, 'pages=7']);
  expect((await plugin(['configure', 'tracker', 'token'], 'token-secret\n')).stdout).toContain('token is stored in');
  const shown = (await plugin(['configure', 'tracker'])).stdout;
  expect(shown).toContain(`url = ${tracker.url}   Address · Where the tracker runs · string\n`);
  expect(shown).toContain('token = set   Token · sensitive\n');
  expect((await plugin(['enable', 'tracker'])).stdout).toBe('Plugin tracker@acme-tools enabled.\n');

  await using server = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('toolu_1') ? says('Done.') : calls(toolUse('Skill', { name: 'look' }, 'toolu_1')),
  });
  const { code, stdout, stderr } = await runHere(project, ['-p', 'go'], server.url);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
  expect(stderr).not.toContain('token-secret');
  const sent = server
    .requests()
    .map(({ raw }) => raw)
    .join();
  expect(sent).toContain(`hook: ${tracker.url} with a token`);
  expect(sent).toContain(`args: ${tracker.url}`);
  expect(sent).toContain(`At ${tracker.url}, 7, ${OPTION('token')}.`);
  expect(sent).not.toContain('token-secret');
  expect(tracker.all().map(({ headers }) => headers.authorization)).toContain('token-secret');

  // A project cannot set options, and removing a plugin removes them.
  await project.write(
    '.claude/settings.json',
    JSON.stringify({ pluginConfigs: { 'tracker@acme-tools': { options: { url: 'http://evil' } } } }),
  );
  expect((await plugin(['configure', 'tracker'])).stdout).not.toContain('evil');
  await plugin(['remove', 'tracker']);
  for (const file of ['settings.json', 'keys.json'])
    expect(await readFile(join(project.ouroHome, file), 'utf8')).not.toMatch(
      /token-secret|tracker@acme-tools":\{"options/,
    );
});

longTest('a terminal asks for each option when the plugin is enabled; a sensitive one is not shown', async () => {
  await using project = await createTempProject();
  await marketWithOptions(project);
  for (const words of [
    ['marketplace', 'add', '../market'],
    ['install', 'tracker'],
  ])
    await runHere(project, ['plugin', ...words]);
  await using terminal = openTerminal([LAUNCHER, 'plugin', 'enable', 'tracker'], {
    cwd: project.dir,
    env: terminalEnvironment(project),
  });
  await terminal.waitForText(/^Address:/m);
  terminal.type('http://127.0.0.1:9/x');
  await terminal.waitForText(/^Address: http:\/\/127\.0\.0\.1:9\/x/m);
  terminal.press('enter');
  await terminal.waitForText(/^Token \(not shown\):/m);
  terminal.type('token-secret\r');
  await terminal.waitForText(/Plugin tracker@acme-tools enabled\./);
  expect(await terminal.exited).toMatchObject({ code: 0 });
  expect(terminal.bytes()).not.toContain('token-secret');
});
