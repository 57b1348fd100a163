import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { startOuro } from '../support/run-ouro.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;
let server: ApiServer;

/** A server over pipes with one tool, which allows to echo and refuses the rest. */
const GUARD = `
import { createInterface } from 'node:readline';
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'guard', version: '1' } });
  if (method === 'tools/list') answer(id, { tools: [{ name: 'approve', inputSchema: { type: 'object' } }] });
  if (method === 'tools/call') {
    const { tool_name, input, tool_use_id } = params.arguments;
    const verdict = input.command?.startsWith('echo')
      ? { behavior: 'allow', updatedInput: { command: input.command + ' twice' } }
      : { behavior: 'deny', message: tool_name + ' ' + tool_use_id + ' is not for robots' };
    answer(id, { content: [{ type: 'text', text: input.command === 'odd' ? 'perhaps' : JSON.stringify(verdict) }] });
  }
}
`;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
  await project.write('../guard.mjs', GUARD);
  await project.write(
    'mcp.json',
    JSON.stringify({ mcpServers: { guard: { command: process.execPath, args: ['../guard.mjs'] } } }),
  );
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

async function run(...flags: readonly string[]) {
  const end = await runHere(project, ['-p', 'go', '--output-format=json', ...flags], server.url);
  return { ...end, result: JSON.parse(end.stdout) };
}

const sent = (index: number) => JSON.stringify(server.requests()[index]?.body.messages);

test('a permission prompt tool of an MCP server answers where no user can', async () => {
  server = await startApiServer({
    turns: [
      calls(toolUse('Bash', { command: 'echo $((40 + 2))' }, 'toolu_1')),
      calls(toolUse('Bash', { command: 'make' }, 'toolu_2')),
      calls(toolUse('Bash', { command: 'odd' }, 'toolu_3')),
      says('done'),
    ],
  });
  const { code, result } = await run('--mcp-config=mcp.json', '--permission-prompt-tool=mcp__guard__approve');
  expect({ code, result: result.result }).toEqual({ code: 0, result: 'done' });
  expect(sent(1)).toContain('42 twice');
  expect(sent(2)).toContain('Bash toolu_2 is not for robots');
  expect(sent(3)).toContain('could not be asked');
  expect(result.permission_denials.map((denial: { readonly tool_use_id: string }) => denial.tool_use_id)).toEqual([
    'toolu_2',
    'toolu_3',
  ]);
});

longTest('a missing permission prompt tool denies and is reported', async () => {
  server = await startApiServer({ turns: [calls(toolUse('Bash', { command: 'make' }, 'toolu_1')), says('done')] });
  const { code } = await run('--permission-prompt-tool=mcp__none__approve');
  expect(code).toBe(0);
  expect(sent(1)).toMatch(/mcp__none__approve could not be asked/);
});

longTest('servers of the command line are available, exclusively on request', async () => {
  await project.write(
    '../home/.ouro/settings.json',
    JSON.stringify({ mcpServers: { other: { command: process.execPath, args: ['../guard.mjs'] } } }),
  );
  const inline = JSON.stringify({ mcpServers: { inline: { command: process.execPath, args: ['../guard.mjs'] } } });
  server = await startApiServer({ turns: [], after: says('fine') });
  const init = async (...flags: readonly string[]) => {
    const { stdout } = await runHere(project, ['-p', 'go', '--output-format=json', '--verbose', ...flags], server.url);
    const [{ mcp_servers: servers, tools }] = JSON.parse(stdout);
    return { servers, tools: tools.filter((name: string) => name.startsWith('mcp__')) };
  };
  expect(await init('--mcp-config', 'mcp.json', inline)).toEqual({
    servers: [
      { name: 'guard', status: 'connected' },
      { name: 'inline', status: 'connected' },
      { name: 'other', status: 'connected' },
    ],
    tools: ['mcp__guard__approve', 'mcp__inline__approve', 'mcp__other__approve'],
  });
  expect(await init('--mcp-config=mcp.json', '--strict-mcp-config')).toEqual({
    servers: [{ name: 'guard', status: 'connected' }],
    tools: ['mcp__guard__approve'],
  });
});

longTest('console output of a library is discarded', async () => {
  server = await startApiServer({ turns: [says('fine')] });
  const oauth = { grant: 'client_credentials', clientId: 'c', clientSecret: 's' };
  // The library warns as soon as it is given such a login.
  const config = JSON.stringify({ mcpServers: { away: { type: 'http', url: `${server.url}/nothing`, oauth } } });
  await using running = startOuro(project, ['-p', 'go', '--mcp-config', config], server.url);
  const { stdout, stderr } = await running.ended;
  expect(stdout).toBe('fine\n');
  expect(stderr).toContain('away');
  expect(stderr).not.toContain('[mcp-sdk]');
});
