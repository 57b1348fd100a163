import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonValue } from '../../src/contracts/json.ts';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { says } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;
let api: ApiServer;

beforeEach(async () => {
  project = await createTempProject();
  api = await startApiServer({ turns: () => says('Done.') });
});

afterEach(async () => {
  await api.close();
  await project.remove();
});

/** A gateway with a list of models of its own, which passes everything else on. */
async function startGateway(models: JsonValue | undefined) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      asked.push(`${request.url} ${request.headers['x-api-key'] ?? request.headers.authorization}`);
      response.writeHead(models === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(models ?? { error: 'not found' }));
      return;
    }
    request.pipe(
      send(`${api.url}${request.url ?? ''}`, { method: 'POST', headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function saveSettings(settings: object): Promise<void> {
  await mkdir(project.ouroHome, { recursive: true });
  await writeFile(join(project.ouroHome, 'settings.json'), JSON.stringify(settings));
}

const NO_KEYS = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };

test('the variables that vendors print hold in env of the settings, numbers included', async () => {
  await using gateway = await startGateway({ data: [{ id: 'glm-4.6', context_length: 200_000 }] });
  await saveSettings({
    env: {
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_AUTH_TOKEN: 'sk-vendor',
      ANTHROPIC_DEFAULT_SONNET_MODEL: 'glm-4.6',
      ANTHROPIC_DEFAULT_OPUS_MODEL: 'glm-5',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'glm-4.5-air',
      ANTHROPIC_CUSTOM_HEADERS: 'X-Team: platform\nX-Cost: 7',
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: 6000,
    },
  });
  const plain = await runHere(project, ['-p', 'hi'], undefined, { env: NO_KEYS });
  expect(plain).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
  const opus = await runHere(project, ['-p', 'hi', '--model', 'opus'], undefined, { env: NO_KEYS });
  expect(opus.code).toBe(0);
  expect(api.requests().map(({ body }) => [body.model, body.max_tokens])).toEqual([
    ['glm-4.6', 6000],
    ['glm-5', 6000],
  ]);
  expect(api.requests()[0]?.headers).toMatchObject({
    authorization: 'Bearer sk-vendor',
    'x-team': 'platform',
    'x-cost': '7',
  });
  const doctor = await runHere(project, ['doctor'], undefined, { env: NO_KEYS });
  expect(doctor.stdout).toContain(`ANTHROPIC_AUTH_TOKEN from "env" of the settings, sent to ${gateway.url}`);
  expect(doctor.stdout).not.toContain('sk-vendor');
});

longTest('the process environment names the models of a gateway, side calls included', async () => {
  const env = { ANTHROPIC_DEFAULT_SONNET_MODEL: 'big', ANTHROPIC_DEFAULT_HAIKU_MODEL: 'small' };
  const { conversation, close } = await composed(project, api.url, { frontend: 'screen' }, env);
  await conversation.agent.prompt('hello');
  const models = () => new Set(api.all().flatMap(({ body }) => body.model ?? []));
  // The title is asked for after the reply.
  await expect.poll(models).toEqual(new Set(['big', 'small']));
  await close();
});

test.each(
  someOf([
    [
      'its server',
      { data: [{ id: 'house-model', max_input_tokens: 64_000, max_tokens: 9000 }] },
      'house-model',
      64_000,
    ],
    ['the catalogue, where the server is silent', undefined, 'zai-org/GLM-4.6', 204_800],
    ['the server before the catalogue', { data: [{ id: 'glm-4.6', context_length: 50_000 }] }, 'glm-4.6', 50_000],
  ]),
)('a model on a foreign address is known from %s', async (_, models, model, contextWindow) => {
  await using gateway = await startGateway(models);
  const { conversation, events, close } = await composed(project, gateway.url, { model });
  await conversation.agent.prompt('hello');
  expect(conversation.info().modelInfo.contextWindow).toBe(contextWindow);
  expect(events.filter(({ type }) => type === 'notice')).toEqual([]);
  expect(gateway.asked).toContain('/v1/models sk-ant-test');
  // A price on a machine of one's own is nobody's list price.
  expect(await conversation.runCommand('cost')).toMatchObject({ markdown: expect.stringContaining('price unknown') });
  expect(conversation.usage()).toMatchObject({ costUsd: 0, isComplete: false });
  await close();
});

longTest('-p reports an unknown model', async () => {
  await using gateway = await startGateway(undefined);
  const { code, stderr } = await runHere(project, ['-p', 'hi', '--model', 'in-house-7'], gateway.url);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^The limits of in-house-7 are unknown; assuming a context window of 32000/);
  const json = await runHere(project, ['-p', 'hi', '--model', 'in-house-7', '--output-format', 'json'], gateway.url);
  expect(JSON.parse(json.stdout)).toMatchObject({ cost_is_incomplete: true });
  expect(json.stderr).toBe(stderr);
});

longTest('a switch to a model that its server does not list is refused with the nearest name', async () => {
  await using gateway = await startGateway({
    data: [{ id: 'claude-sonnet-5-5' }, { id: 'glm-4.6' }, { id: 'qwen/*' }],
  });
  const { conversation, command, close } = await composed(project, gateway.url);
  expect(await conversation.setModel('glm-4.7')).toEqual({
    ok: false,
    problem: `${gateway.url}/v1 does not list a model "glm-4.7". Did you mean glm-4.6? If it serves the model anyway, describe it under "models" in your settings.`,
  });
  expect(await command('model glm-4.6')).toContain('glm-4.6');
  expect(await conversation.setModel('qwen/anything')).toMatchObject({ ok: true });
  await close();
});

test('keys of providers in env of the settings are used and shown by doctor, never printed', async () => {
  await using server = await startOpenAiServer({ turns: () => says('Done.') });
  const providers = { openrouter: { baseUrl: `${server.url}/v1` } };
  await saveSettings({ env: { OPENROUTER_API_KEY: 'sk-or-v1-secret' }, providers, model: 'openrouter/z-ai/glm-4.6' });
  const { code } = await runHere(project, ['-p', 'hi'], undefined, { env: NO_KEYS });
  expect(code).toBe(0);
  expect(server.all().findLast(({ body }) => body.messages !== undefined)?.headers.authorization).toBe(
    'Bearer sk-or-v1-secret',
  );
  const doctor = await runHere(project, ['doctor'], undefined, { env: NO_KEYS });
  expect(doctor.stdout).toContain('OpenRouter (OPENROUTER_API_KEY)');
  expect(doctor.stdout).not.toContain('sk-or-v1-secret');
});
