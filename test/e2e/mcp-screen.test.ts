import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

/** The smallest server there can be: one tool, and a child that would outlive it. It answers once there is a file `go`. */
const SMALL = `
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
spawn('sleep', ['600'], { stdio: 'ignore' });
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
process.on('SIGTERM', () => undefined);
for await (const line of createInterface({ input: process.stdin })) {
  while (!existsSync('go')) await setTimeout(20);
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

longTest('twenty servers, half of them broken, delay neither the prompt nor an answer, and end with ouro', async () => {
  await using project = await createTempProject({ '../small.mjs': SMALL });
  await using api = await startApiServer({ turns: () => says('Here I am.') });
  const env = {
    ...terminalEnvironment(project, api.url),
    PATH: process.env.PATH ?? '',
    OURO_MCP_TIMEOUT_MS: '60000',
  };
  const fine = { command: process.execPath, args: [`${project.dir}/../small.mjs`] };
  const servers = [...BROKEN, ...BROKEN].flatMap(
    (broken, at) =>
      [
        [`broken${at}`, broken],
        [`fine${at}`, fine],
      ] as const,
  );

  await project.write('../home/.ouro/settings.json', JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  await using terminal = openTerminal([LAUNCHER], { cwd: project.dir, env });
  await terminal.waitForText(/^[▌|]/m);
  terminal.type('hello');
  await terminal.waitForText(/^[▌|] hello/m);
  terminal.press('enter');
  await terminal.waitForText(/Here I am\./);
  // Until here none of them had said a word.
  await project.write('go', '');
  // The list shows what is so now, without being asked again.
  terminal.type('/mcp\r');
  await terminal.waitForText(/^▌ MCP servers/m);
  terminal.type('fine');
  await terminal.waitForScreen((rows) => rows.filter((row) => /fine\d +connected/.test(row)).length === 10);
  terminal.press('ctrl+u');
  terminal.type('broken0');
  await terminal.waitForText(/broken0 +failed[\s\S]*no-such-program/);
  terminal.press('ctrl+u');
  terminal.type('broken3');
  await terminal.waitForText(
    /broken3 +failed[\s\S]*printed more than 1[\s▌]+MB that is[\s▌]+not MCP; it printed[\s▌]+"garbage/,
  );
  terminal.press('esc');
  await terminal.waitForScreen((rows) => !rows.join('\n').includes('MCP servers'));
  terminal.type('/exit\r');
  await terminal.exited;
  await expectNoProcessesLeft(project.marker);
});
