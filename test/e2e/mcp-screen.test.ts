import { expect, test } from 'vitest';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { expectNoneLeft } from '../support/processes.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/virtual-terminal.ts';

/** The smallest server there can be: one tool, and a child that would outlive it. */
const SMALL = `
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
spawn('sleep', ['600'], { stdio: 'ignore' });
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
process.on('SIGTERM', () => undefined);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'small', version: '1' } });
  if (method === 'tools/list') answer(id, { tools: [{ name: 'nod', inputSchema: { type: 'object' } }] });
}
`;
const BROKEN = [
  { command: 'no-such-program' },
  { command: process.execPath, args: ['-e', 'process.exit(3)'] },
  { command: 'sleep', args: ['600'] },
  { command: 'yes', args: ['garbage'] },
  { url: 'http://127.0.0.1:9/mcp' },
];

test('twenty servers, half of them broken, hold up neither the prompt nor an answer, and are gone after exit', async () => {
  await using project = await createTempProject({ 'small.mjs': SMALL });
  await using api = await startApiServer({ turns: () => says('Here I am.') });
  const env = {
    ...terminalEnvironment(project, api.url),
    PATH: process.env.PATH ?? '',
    OURO_MCP_TIMEOUT_MS: '20000',
  };
  const fine = { command: process.execPath, args: [`${project.dir}/small.mjs`] };
  const servers = [...BROKEN, ...BROKEN].flatMap(
    (broken, at) =>
      [
        [`broken${at}`, broken],
        [`fine${at}`, fine],
      ] as const,
  );

  async function open() {
    const startedAt = performance.now();
    const terminal = openTerminal([LAUNCHER], { cwd: project.dir, env });
    await terminal.waitForText(/^>/m);
    return { terminal, ms: performance.now() - startedAt };
  }
  const none = await open();
  await none.terminal.kill();
  await project.write('../home/.ouro/settings.json', JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  const { terminal, ms } = await open();
  // The same, give or take what a busy machine takes.
  expect(ms).toBeLessThan(2 * none.ms + 250);
  terminal.type('hello');
  await terminal.waitForText(/^> hello/m);
  terminal.press('enter');
  await terminal.waitForText(/Here I am\./);
  terminal.type('/mcp');
  await terminal.waitForText(/^> \/mcp/m);
  terminal.press('enter');
  await terminal.waitForText(/^ *connected +fine9/m);
  const listed = terminal.logicalLines().join('\n');
  expect(listed.match(/^connected +fine\d/gm)).toHaveLength(10);
  expect(listed).toMatch(/^failed +broken0.*\n?.*no-such-program/m);
  expect(listed).toMatch(/^failed +broken3.*printed more than 1 MB that is not MCP; it printed "garbage/m);
  const exitedAt = performance.now();
  terminal.type('/exit\r');
  await terminal.exited;
  expect(performance.now() - exitedAt).toBeLessThan(3_500);
  await expectNoneLeft(project.marker);
});
