import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { expectNoProcessesLeft } from '../../support/processes.ts';
import { runHere } from '../../support/run-here.ts';
import { createTempProject } from '../../support/temp-project.ts';

const STUB = join(import.meta.dirname, '../../support/mcp-stub.mjs');
const HEAD = `---
name: critic
description: Criticises
tools: Read
mcpServers:
  - inner:
      type: stdio
      command: ${process.execPath}
      args: ["${STUB}"]
---
You criticise.`;

const isOfAgent = (raw: string) => raw.includes('You criticise.');

/** The conversation starts a critic; it uses its own tool. */
function startApi() {
  const task = toolUse('Task', { description: 'a look', prompt: 'look', subagent_type: 'critic' }, 'toolu_task');
  return startApiServer({
    turns({ raw }) {
      if (!isOfAgent(raw)) return raw.includes('toolu_task') ? says('Done.') : calls(task);
      return raw.includes('toolu_echo')
        ? says('It works.')
        : calls(toolUse('mcp__inner__echo', { message: 'hello' }, 'toolu_echo'));
    },
  });
}

test('an MCP server in the front matter of a sub-agent runs only for that sub-agent and only while it runs', async () => {
  await using project = await createTempProject();
  await project.write('../home/.ouro/agents/critic.md', HEAD);
  await using api = await startApi();
  const made = await composed(project, api.url, { allowedTools: ['mcp__inner'] });
  const stateOf = () => made.conversation.info().mcpServers.map(({ name, status }) => [name, status]);
  expect(stateOf()).toEqual([['inner', 'pending']]);
  await made.conversation.agent.prompt('go');
  const requests = api.requests().map(({ raw }) => [isOfAgent(raw), raw.includes('"mcp__inner__echo"')]);
  expect(requests).toEqual([
    [false, false],
    [true, true],
    [true, true],
    [false, false],
  ]);
  expect(api.requests()[2]?.raw).toContain('Echo: hello');
  await vi.waitFor(() => expect(stateOf()).toEqual([['inner', 'pending']]));
  await expectNoProcessesLeft(project.marker);
  await made.conversation.agent.prompt('again');
  expect(api.requests().filter(({ raw }) => raw.includes('Echo: hello'))).toHaveLength(1);
  await made.close();
});

test('a server of a project sub-agent waits for approval like any project server, also when it is the main agent', async () => {
  await using project = await createTempProject({ '.claude/agents/critic.md': HEAD });
  await using api = await startApi();
  const allowed = { allowedTools: ['mcp__inner'] };
  const made = await composed(project, api.url, allowed);
  expect(made.conversation.info().warnings.join()).toMatch(/MCP servers waiting for (?:your )?approval: inner\./);
  await made.conversation.agent.prompt('go');
  expect(api.requests()[1]?.raw).not.toContain('"mcp__inner__echo"');
  await made.close();
  await runHere(project, ['trust']);
  expect((await runHere(project, ['mcp', 'approve', 'inner'])).stdout).toContain('inner is approved');
  const as = await composed(project, api.url, { ...allowed, agent: 'critic' });
  expect(as.conversation.info().mcpServers).toMatchObject([{ name: 'inner', status: 'connected' }]);
  await as.close();
});
