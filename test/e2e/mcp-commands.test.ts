import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startOld } from '../mcp/remote-servers.ts';
import { STUB } from '../mcp/servers.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** `ouro mcp …` with the flags and ways that pages about servers name. */
let project: TempProject;

beforeEach(async () => {
  project = await createTempProject();
});

afterEach(() => project[Symbol.asyncDispose]());

const mcp = (...args: readonly string[]) => runHere(project, ['mcp', ...args]);
const kept = async () => JSON.parse(await readFile(join(project.ouroHome, 'settings.json'), 'utf8')).mcpServers;

test('a server is added with short flags, with its own login, or as JSON', async () => {
  await mcp(
    'add',
    '-t',
    'http',
    '-H',
    'X-Team: core',
    '--client-id',
    'me',
    '--callback-port',
    '8123',
    'web',
    'http://127.0.0.1:9/mcp',
  );
  await mcp('add', '-e', 'ZONE=UTC', 'clock', '--', 'node', 'clock.mjs');
  await mcp('add-json', 'whole', '{"command":"w","disabled":true}');
  expect(await kept()).toEqual({
    web: {
      type: 'http',
      url: 'http://127.0.0.1:9/mcp',
      headers: { 'X-Team': 'core' },
      oauth: { clientId: 'me', callbackPort: 8123 },
    },
    clock: { command: 'node', args: ['clock.mjs'], env: { ZONE: 'UTC' } },
    whole: { command: 'w', disabled: true },
  });
  expect((await mcp('add-json', 'broken', '{')).stderr).toMatch(/not valid JSON/);
});

test('a server disabled in its entry is not started', async () => {
  await mcp('add-json', 'notes', JSON.stringify({ ...STUB, disabled: true }));
  const { stdout } = await mcp('list', '--json');
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'notes', status: 'disabled' }]);
});

longTest('the servers of Claude Desktop are imported, and no existing one is replaced', async () => {
  const folder = join(project.home, '.config', 'Claude');
  await mkdir(folder, { recursive: true });
  const file = { mcpServers: { notes: { command: 'theirs' }, files: { command: 'files', args: ['.'] } } };
  await writeFile(join(folder, 'claude_desktop_config.json'), JSON.stringify(file));
  await mcp('add', 'notes', '--', 'mine');
  expect((await mcp('add-from-claude-desktop')).stdout).toMatch(/Skipped notes[\s\S]*Added files/);
  expect(await kept()).toEqual({ notes: { command: 'mine' }, files: { command: 'files', args: ['.'] } });
});

longTest('an SSE address is tried as such', async () => {
  const remote = await startOld();
  await mcp('add', 'old', remote.url);
  const { stdout } = await mcp('list', '--json');
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'old', status: 'connected' }]);
  await remote.close();
});

longTest('a server that keeps refusing is not retried for ever', async () => {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await mcp('add', 'gone', `http://127.0.0.1:${port}/mcp`);
  const { stdout } = await mcp('list', '--json');
  server.close();
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'gone', status: 'failed' }]);
});

longTest('an impossible login is reported in one line', async () => {
  const identityProvider = { tokenEndpoint: 'https://idp.example.com', clientId: 'us', idTokenCommand: 'true' };
  const company = { url: 'http://127.0.0.1:9/mcp', oauth: { clientId: 'us', identityProvider } };
  await mcp('add-json', 'company', JSON.stringify(company));
  await mcp('add-json', 'away', JSON.stringify({ url: 'http://127.0.0.1:9/mcp' }));
  const own = await mcp('login', 'company');
  expect(own).toMatchObject({ code: 1, stderr: expect.stringContaining('configures a login without a web page') });
  const away = await mcp('login', 'away');
  expect(away.code).toBe(1);
  expect(own.stderr + away.stderr).not.toContain('Internal error');
});
