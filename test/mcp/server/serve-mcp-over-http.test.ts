import { once } from 'node:events';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { McpServerLaunch } from '../../../src/mcp/configured-mcp-server.ts';
import { serveMcpOverHttp } from '../../../src/mcp/server/serve-mcp-over-http.ts';
import { callTool } from '../../support/call-tool.ts';
import { CONFORMANCE_FEATURES } from '../../support/conformance-features.ts';
import { DIRECT } from '../../support/environment.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject } from '../../support/temp-project.ts';
import { configured, startHub } from '../servers.ts';

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');

longTest('the tool server passes every server scenario of the official suite', async () => {
  await using project = await createTempProject();
  const { url, close } = await serveMcpOverHttp(CONFORMANCE_FEATURES, { port: 0, token: undefined });
  const args = [SUITE, 'server', '--url', url, '--suite', 'all'];
  const { exitCode, all } = await execa(process.execPath, args, {
    cwd: project.dir,
    env: DIRECT,
    all: true,
    reject: false,
  });
  await close();
  const scenarios = [...all.matchAll(/^([✓✗]) \S+: \d+ passed, (\d+) failed$/gm)];
  expect([exitCode, scenarios.length], all).toEqual([0, 32]);
  expect(scenarios.every(([, mark, failed]) => mark === '✓' && failed === '0')).toBe(true);
});

test('a call with a closed stream is answered when the client reconnects; a configured token is required', async () => {
  const options = { port: 0, token: 'open sesame', retryIntervalMs: 10 };
  const { url, close } = await serveMcpOverHttp(CONFORMANCE_FEATURES, options);
  const launch = (token: string): McpServerLaunch => ({
    kind: 'http',
    url,
    headers: { authorization: `Bearer ${token}` },
  });
  await using right = startHub([configured('right', launch('open sesame'))]);
  await using wrong = startHub([configured('wrong', launch('please'))]);
  await Promise.all([right.hub.whenSettled(), wrong.hub.whenSettled()]);
  expect(wrong.hub.listStates()).toMatchObject([{ status: 'needs-auth' }]);
  const tool = right.hub.listTools().find(({ name }) => name.endsWith('test_reconnection'));
  if (tool === undefined) throw new Error('It is not offered.');
  expect((await callTool(tool, {})).content).toBe('Reconnection test completed.');
  await close();
});

test.each([
  ['a name that points here', { host: 'evil.example' }, 403],
  ['a page of the web', { origin: 'https://evil.example' }, 403],
  ['a page whose name looks local', { origin: 'http://localhost.evil.example' }, 403],
  ['a session that is over', { 'mcp-session-id': 'gone' }, 404],
])('%s is refused', async (_, headers, status) => {
  const { url, close } = await serveMcpOverHttp(CONFORMANCE_FEATURES, { port: 0, token: undefined });
  const { port } = new URL(url);
  const asked = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }).end('{}');
  const [response] = await once(asked, 'response');
  expect(response.statusCode).toBe(status);
  response.resume();
  await close();
});
