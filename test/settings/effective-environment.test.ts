import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import type { Settings, SettingsLayer } from '../../src/contracts/settings.ts';
import {
  applySettingsEnvironment,
  buildChildVariables,
  resolveTimeoutsAndRetries,
} from '../../src/settings/effective-environment.ts';
import { mergeSettingsLayers } from '../../src/settings/merge-settings.ts';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { composed } from '../support/composed.ts';
import { createTempProject } from '../support/temp-project.ts';

test('provider keys are used for requests, and reach no command, hook, server or script', async () => {
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
      BUN_JSC_thresholdForJITAfterWarmUp: '2000',
      BUN_JSC_thresholdForOptimizeAfterWarmUp: '4000',
      BUN_JSC_jitMemoryReservationSize: '5242880',
      BUN_JSC_maximumFunctionForCallInlineCandidateBytecodeCostForDFG: '0',
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0',
    },
  );
  await conversation.agent.prompt('go');
  expect(await conversation.renderStatusLine?.()).toBe('line');
  await close();
  expect(server.all()[0]?.headers.authorization).toBe('Bearer sk-mine');
  for (const name of ['by-command', 'by-hook', 'by-script', 'by-server']) {
    const seen = await project.read(name);
    expect([name, seen]).toEqual([name, expect.stringContaining('FROM_SETTINGS=seen')]);
    expect([name, seen]).toEqual([
      name,
      expect.not.stringMatching(
        /sk-(?:mine|open|token|ant)|BUN_GC_TIMER|BUN_JSC_(?:useFTL|threshold|jitMemory|maximum)|TRANSPILER/,
      ),
    ]);
  }
  expect((await project.read('by-server')).match(/=<none>/g)).toHaveLength(2);
  expect(await project.read('by-command')).toContain('PLAIN=plain');
});

const layerOf = (source: SettingsLayer['source'], settings: Settings): SettingsLayer => {
  return { source, file: `/${source}.json`, settings, lineOf: () => undefined };
};

const loadedFrom = (user: Settings, project: Settings = {}) => {
  const layers = [layerOf('project', project), layerOf('user', user)];
  return { layers, merged: mergeSettingsLayers(layers) };
};

test('variables of own settings count for ouro itself, those of a project only for its commands', () => {
  const project = { env: { HTTPS_PROXY: 'http://evil:1', AWS_REGION: 'eu-west-1' } };
  const user = {
    env: {
      HTTPS_PROXY: 'http://proxy:8080',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      CLAUDE_CODE_USE_BEDROCK: '1',
      OPENROUTER_API_KEY: 'sk-or-v1',
    },
  };
  const applied = applySettingsEnvironment(readEnvironment({ HOME: '/h' }), loadedFrom(user, project));
  expect(applied).toMatchObject({
    extraCaFile: '/ca.pem',
    variables: { HTTPS_PROXY: 'http://proxy:8080', CLAUDE_CODE_USE_BEDROCK: '1' },
    keys: { OPENROUTER_API_KEY: 'sk-or-v1' },
  });
  expect(applied.variables).not.toHaveProperty('AWS_REGION');
  expect(applied.variables).not.toHaveProperty('OPENROUTER_API_KEY');
  const process = readEnvironment({ HOME: '/h', HTTPS_PROXY: 'http://first:1', NODE_EXTRA_CA_CERTS: '/own.pem' });
  expect(applySettingsEnvironment(process, loadedFrom(user))).toMatchObject({
    extraCaFile: undefined,
    variables: { HTTPS_PROXY: 'http://first:1', NODE_EXTRA_CA_CERTS: '/own.pem' },
  });
});

test("base URL and headers may be in env of the user's own settings; the environment overrides them", () => {
  const settings = {
    env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_AUTH_TOKEN: ' token ', ANTHROPIC_MODEL: 'opus' },
  };
  const bare = readEnvironment({ HOME: '/h' });
  expect(applySettingsEnvironment(bare, loadedFrom(settings))).toMatchObject({
    baseUrl: 'http://127.0.0.1:9',
    credentials: { authToken: 'token' },
    model: 'opus',
  });
  expect(buildChildVariables(bare, settings)).not.toHaveProperty('ANTHROPIC_AUTH_TOKEN');
  const full = readEnvironment({ HOME: '/h', ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:8' });
  expect(applySettingsEnvironment(full, loadedFrom(settings))).toMatchObject({
    baseUrl: 'http://127.0.0.1:8',
    credentials: { apiKey: 'key' },
  });
});

test('the timeout that vendors print holds where no other is set', () => {
  const bare = readEnvironment({ HOME: '/h' });
  const env = { API_TIMEOUT_MS: '3000000' };
  expect(resolveTimeoutsAndRetries(bare, { env }).headerTimeoutMs).toBe(3_000_000);
  expect(resolveTimeoutsAndRetries(bare, { env, timeouts: { headerMs: 5 } }).headerTimeoutMs).toBe(5);
  expect(resolveTimeoutsAndRetries(readEnvironment({ HOME: '/h', API_TIMEOUT_MS: '7' }), { env }).headerTimeoutMs).toBe(
    7,
  );
  expect(resolveTimeoutsAndRetries(bare, { env: { API_TIMEOUT_MS: 'soon' } }).headerTimeoutMs).toBeUndefined();
});
