import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { childVariables, keysAside } from '../../src/settings/child-variables.ts';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { composed } from '../support/composed.ts';
import { createTempProject } from '../support/temp-project.ts';

test('keys of providers are used for requests, and reach no command, hook, server or script', async () => {
  await using project = await createTempProject();
  await using server = await startOpenAiServer({
    turns: [calls(toolUse('Bash', { command: 'env > by-command' })), says('Done.')],
  });
  const look = (name: string) => `env > '${project.dir}/${name}'`;
  const expanded = (name: string) => `<\${${name}:-none}>`;
  const settings = {
    model: 'mine/small',
    providers: { mine: { baseUrl: `${server.url}/v1`, apiKeyEnv: 'MINE_KEY', contextWindow: 64_000 } },
    env: { FROM_SETTINGS: 'seen' },
    permissions: { allow: ['Bash'], defaultMode: 'acceptEdits' },
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: look('by-hook') }] }] },
    statusLine: { type: 'command', command: `${look('by-script')}; echo line` },
    mcpServers: {
      looking: {
        command: '/bin/sh',
        args: ['-c', look('by-server')],
        env: { ONE: expanded('MINE_KEY'), TWO: expanded('OPENAI_API_KEY'), FROM_SETTINGS: 'seen' },
      },
    },
  };
  const secrets = { MINE_KEY: 'sk-mine', OPENAI_API_KEY: 'sk-open', ANTHROPIC_AUTH_TOKEN: 'sk-token' };
  const { conversation, close } = await composed(
    project,
    server.url,
    { settings: JSON.stringify(settings) },
    {
      ...secrets,
      PLAIN: 'plain',
      BUN_GC_TIMER_INTERVAL: '60000',
      BUN_JSC_useFTLJIT: '0',
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0',
    },
  );
  await conversation.agent.prompt('go');
  expect(await conversation.statusLine?.()).toBe('line');
  await close();
  expect(server.all()[0]?.headers.authorization).toBe('Bearer sk-mine');
  for (const name of ['by-command', 'by-hook', 'by-script', 'by-server']) {
    const seen = await project.read(name);
    expect([name, seen]).toEqual([name, expect.stringContaining('FROM_SETTINGS=seen')]);
    expect([name, seen]).toEqual([
      name,
      expect.not.stringMatching(/sk-(?:mine|open|token|ant)|BUN_GC_TIMER|BUN_JSC_useFTL|TRANSPILER/),
    ]);
  }
  expect((await project.read('by-server')).match(/=<none>/g)).toHaveLength(2);
  expect(await project.read('by-command')).toContain('PLAIN=plain');
});

test("where the API is and who asks may stand under env of one's own settings; the surroundings say it first", () => {
  const settings = {
    env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_AUTH_TOKEN: ' token ', ANTHROPIC_MODEL: 'opus' },
  };
  const bare = readEnvironment({ HOME: '/h' });
  expect(keysAside(bare, settings)).toMatchObject({
    baseUrl: 'http://127.0.0.1:9',
    credentials: { authToken: 'token' },
    model: 'opus',
  });
  expect(childVariables(bare, settings)).not.toHaveProperty('ANTHROPIC_AUTH_TOKEN');
  const full = readEnvironment({ HOME: '/h', ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:8' });
  expect(keysAside(full, settings)).toMatchObject({ baseUrl: 'http://127.0.0.1:8', credentials: { apiKey: 'key' } });
});
