import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';
import { fetch } from '../../src/lib/network/fetch.ts';
import { STUB } from '../mcp/servers.ts';
import { startOAuthServer } from '../support/api/oauth-server.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER, runOuro, startOuro } from '../support/run-ouro.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const NODE = { env: { PATH: process.env.PATH ?? '' } };

async function ouro(project: TempProject, ...args: readonly string[]) {
  const { code, stdout, stderr } = await runHere(project, args, undefined, NODE);
  return { code, text: `${stdout}${stderr}` };
}

longTest('a server is added, listed, used by the model, removed, and ends with ouro', async () => {
  await using project = await createTempProject();
  expect(await ouro(project, 'mcp', 'add', 'every', '--', STUB.command, ...STUB.args)).toMatchObject({ code: 0 });
  expect((await ouro(project, 'mcp', 'list')).text).toMatch(/^connected {3}every \(user\) .*tools/m);
  await using api = await startApiServer({
    turns: [calls(toolUse('mcp__every__echo', { message: 'round' }, 'toolu_1')), says('Done.')],
  });
  const args = ['-p', 'go', '--allowedTools', 'mcp__every', '--output-format', 'stream-json', '--verbose'];
  const { code, stdout } = await runOuro(project, args, api.url, NODE);
  expect([code, api.requests()[1]?.raw.includes('Echo: round')]).toEqual([0, true]);
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
    subtype: 'init',
    mcp_servers: [{ name: 'every', status: 'connected' }],
    tools: expect.arrayContaining(['mcp__every__echo', 'ListMcpResources']),
  });
  await expectNoProcessesLeft(project.marker);
  expect(await ouro(project, 'mcp', 'remove', 'every')).toMatchObject({ code: 0 });
  expect((await ouro(project, 'mcp', 'list')).text).toContain('No MCP server is configured');
});

test('a project server starts after trust and approval, not before', async () => {
  const config = JSON.stringify({ mcpServers: { every: STUB } });
  await using project = await createTempProject({ '.mcp.json': config });
  await using api = await startApiServer({ turns: () => says('Fine.') });
  const toolsOffered = async () => {
    const { stderr } = await runHere(project, ['-p', 'go'], api.url, NODE);
    return { stderr, names: api.requests().at(-1)?.raw.includes('mcp__every__echo') };
  };
  expect((await toolsOffered()).names).toBe(false);
  expect((await ouro(project, 'mcp', 'list')).text).toContain('this folder is not trusted: every.');
  expect((await ouro(project, 'mcp', 'add', 'tmp', '--scope', 'project', '--', 'true')).text).toContain('Added tmp');
  expect((await ouro(project, 'mcp', 'add', 'tmp', '--scope', 'project', '--', 'false')).text).toContain(
    'Replaced tmp',
  );
  expect((await ouro(project, 'mcp', 'remove', 'tmp')).text).toContain('Removed tmp from');
  await ouro(project, 'trust');
  const waiting = await toolsOffered();
  expect([waiting.names, waiting.stderr]).toEqual([false, expect.stringContaining('waiting for your approval: every')]);
  expect(await ouro(project, 'mcp', 'approve', 'every')).toMatchObject({ code: 0 });
  expect((await toolsOffered()).names).toBe(true);
  await project.write('.mcp.json', config.replace('"args":[', '"args":["--smol",'));
  expect((await toolsOffered()).names).toBe(false);
});

longTest('login prints the URL instead of opening a browser, and ends when it was visited', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  await ouro(project, 'mcp', 'add', 'guarded', server.url);
  expect((await ouro(project, 'mcp', 'list')).text).toContain('ouro mcp login guarded');
  await using running = startOuro(project, ['mcp', 'login', 'guarded'], undefined, NODE);
  await running.waitForOutput(/http\S+authorize\S+/);
  await fetch(/http\S+authorize\S+/.exec(running.stdout())?.[0] ?? '');
  expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged in to guarded.') });
  expect((await ouro(project, 'mcp', 'list')).text).toMatch(/^connected {3}guarded/m);
});

test('another program uses the tools of ouro within the rules', async () => {
  await using project = await createTempProject({ 'notes.txt': 'remember this' });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const env = { ...bareEnvironment(project), ...NODE.env };
  const transport = new StdioClientTransport({ command: LAUNCHER, args: ['mcp', 'serve'], cwd: project.dir, env });
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['Read', 'Bash', 'Edit']));
  const read = await client.callTool({ name: 'Read', arguments: { file_path: `${project.dir}/notes.txt` } });
  expect(JSON.stringify(read.content)).toContain('remember this');
  const refused = await client.callTool({ name: 'Bash', arguments: { command: 'touch made', description: 'Make' } });
  expect(refused.isError).toBe(true);
  await expect(project.read('made')).rejects.toThrow('ENOENT');
  // No folder of temporary files is added to what the rules are about.
  expect((await readdir(dirname(project.dir))).toSorted()).toEqual(['home', 'project']);
  await client.close();
  await expectNoProcessesLeft(project.marker);
});

longTest('servers that never start cost a script their time limit and nothing else', async () => {
  const dead = [
    { command: 'no-such-program' },
    { command: 'node', args: ['-e', 'process.exit(3)'] },
    { url: 'http://127.0.0.1:9/mcp' },
  ];
  const mute = { command: 'sleep', args: ['600'] };
  const named = (servers: readonly object[]) =>
    JSON.stringify({ mcpServers: Object.fromEntries(servers.map((server, at) => [`s${at}`, server])) });
  await using project = await createTempProject();
  await using api = await startApiServer({ turns: () => says('Fine.') });
  const run = (servers: readonly object[], env: Readonly<Record<string, string>> = {}) =>
    runHere(project, ['-p', 'go', '--mcp-config', named(servers)], api.url, { env: { ...NODE.env, ...env } });
  // The limit is for those that say nothing; the others have time to start, also on a busy machine.
  const settings = ['--settings', '{"timeouts": {"mcpMs": 3000}, "env": {"TEAM": "core"}}'];
  const writing = { command: 'sh', args: ['-c', `echo "$TEAM \${TEAM}" > team.txt`] };
  const [limited, bySettings, half] = await Promise.all([
    run([...dead, mute, ...dead, mute], { OURO_MCP_TIMEOUT_MS: '300' }),
    runHere(project, ['-p', 'go', '--mcp-config', named([mute, writing]), ...settings], api.url, NODE),
    run([STUB, STUB, ...dead, ...dead]),
  ]);
  expect([limited.code, bySettings.code, half.code]).toEqual([0, 0, 0]);
  const offered = api.requests().map(({ raw }) => (raw.match(/mcp__s\d+__echo/g) ?? []).length);
  expect(offered.toSorted()).toEqual([0, 0, 2]);
  // Variables of the settings are there for servers, and where a configuration names them.
  expect(await project.read('team.txt')).toBe('core core\n');
  await expectNoProcessesLeft(project.marker);
});

longTest('resources are attached with @ and read by tools, and prompts are commands', async () => {
  await using project = await createTempProject();
  await project.write('servers.json', JSON.stringify({ mcpServers: { every: STUB } }));
  await using api = await startApiServer({
    turns: (request) =>
      request.raw.includes('resource') && !request.raw.includes('tool_result')
        ? calls(
            toolUse('ListMcpResources', { server: 'every' }, 'toolu_1'),
            toolUse('ReadMcpResource', { server: 'every', uri: 'stub://features.md' }, 'toolu_2'),
          )
        : says('Fine.'),
  });
  const ask = async (prompt: string) => {
    const args = [
      '-p',
      prompt,
      '--mcp-config',
      'servers.json',
      '--allowedTools',
      'ListMcpResources',
      'ReadMcpResource',
    ];
    return runHere(project, args, api.url, NODE);
  };
  await ask('what does @every:stub://features.md say, and which resource is there?');
  await ask('/mcp__every__travel Paris');
  const [first, second, third] = api.requests().map(({ body }) => JSON.stringify(body.messages));
  expect(first).toContain('The user named every:stub://features.md. Its content:');
  expect(second).toContain('stub://limits.md');
  expect(second?.split('# Features of the stub').length).toBeGreaterThan(2);
  expect(third).toContain('Paris');
  expect(third).not.toContain('mcp__every__travel');
});
