import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { client, ndJsonStream, type SessionUpdate } from '@agentclientprotocol/sdk';
import { expect } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';
import { toWebStream } from '../support/web-stream.ts';

const AGENT = createRequire(import.meta.url).resolve('@agentclientprotocol/claude-agent-acp/dist/index.js');

longTest('the Claude agent of editors drives ouro unchanged: text, a permission request, its result', async () => {
  await using project = await createTempProject();
  const turns = [calls(toolUse('Bash', { command: 'touch made' }, 'toolu_1')), says('It is made.')];
  const server = await startApiServer({ turns });
  const env = { ...bareEnvironment(project, server.url), CLAUDE_CODE_EXECUTABLE: LAUNCHER };
  const child = spawn(process.execPath, [AGENT], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const updates: SessionUpdate[] = [];
  const asked: string[] = [];
  const { agent } = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params.toolCall.title ?? '');
      const yes = params.options.find(({ kind }) => kind === 'allow_once');
      return { outcome: { outcome: 'selected', optionId: yes?.optionId ?? '' } };
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), toWebStream(child.stdout)));
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  const prompt = [{ type: 'text', text: 'make it' } as const];
  expect(await agent.request('session/prompt', { sessionId, prompt })).toMatchObject({ stopReason: 'end_turn' });
  expect(asked).toHaveLength(1);
  const said = updates.flatMap((update) =>
    update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
  );
  expect(said.join('')).toBe('It is made.');
  expect(updates).toContainEqual(expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'completed' }));
  const gone = once(child, 'exit');
  child.kill();
  await gone;
  await server.close();
});
