import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startJsonServer } from '../../support/json-server.ts';
import { runHere } from '../../support/run-here.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

async function settle(project: TempProject, settings: object): Promise<void> {
  await mkdir(project.ouroHome, { recursive: true });
  await writeFile(join(project.ouroHome, 'settings.json'), JSON.stringify(settings));
}

/** Hosts that must not be asked are somewhere nobody listens. */
const NOWHERE = { GROQ_API_KEY: undefined, https_proxy: 'http://127.0.0.1:1', http_proxy: undefined };

test('available models are listed with provider, window, price and key; words filter them', async () => {
  await using project = await createTempProject();
  await using server = await startJsonServer({
    '/v1/models': { data: [{ id: 'coder', max_model_len: 65_536 }, { id: 'talker' }] },
  });
  await settle(project, {
    providers: { work: { baseUrl: `${server.url}/v1`, apiKeyEnv: 'WORK_KEY' } },
    models: { 'work/coder': { price: { input: 1, output: 2, cacheRead: 0.1 } } },
  });
  const env = { ...NOWHERE, WORK_KEY: 'secret-of-work', ANTHROPIC_API_KEY: 'k' };
  const all = await runHere(project, ['models'], undefined, { env });
  expect(all).toMatchObject({ code: 0, stderr: '' });
  expect(all.stdout).toMatch(/^claude-sonnet-5-5 +Anthropic +1M +128k +2 \/ 10 \/ 0\.1 +images +ANTHROPIC_API_KEY$/m);
  expect(all.stdout).toMatch(/^work\/coder +work +66k +8\.2k +1 \/ 2 \/ 0\.1 +WORK_KEY$/m);
  expect(all.stdout).toContain('Without a key: openai, gemini,');
  expect(all.stdout).not.toContain('secret-of-work');
  const some = await runHere(project, ['models', 'WORK', 'talk'], undefined, { env });
  expect(some.stdout.match(/^\S+\/\S+/gm)).toEqual(['work/talker']);
  const none = await runHere(project, ['models', 'nonsense'], undefined, { env });
  expect(none.stdout).toContain('No available model matches "nonsense".');
});

test('--json prints all known fields', async () => {
  await using project = await createTempProject();
  const env = { ...NOWHERE, ANTHROPIC_API_KEY: 'k' };
  const { stdout } = await runHere(project, ['models', 'sonnet', '--json'], undefined, { env });
  const { models, withoutKey } = JSON.parse(stdout);
  expect(models).toMatchObject([
    {
      model: 'claude-sonnet-5-5',
      place: 'Anthropic',
      key: 'ANTHROPIC_API_KEY',
      contextWindow: 1_000_000,
      tools: true,
      thinking: true,
    },
  ]);
  expect(withoutKey).toContainEqual({ name: 'groq', place: 'Groq', keys: ['GROQ_API_KEY'] });
});

test('without any key it says how to get one', async () => {
  await using project = await createTempProject();
  const { code, stdout } = await runHere(project, ['models'], undefined, { env: NOWHERE });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^No model is available yet\.\nWithout a key: anthropic, openai,.*ouro login/);
});

test('update downloads the catalogue from the configured address, and only then', async () => {
  await using project = await createTempProject();
  const models = { 'gpt-99': { id: 'gpt-99', name: 'GPT-99', limit: { context: 5_000_000, output: 1000 } } };
  await using server = await startJsonServer({ '/api.json': { openai: { models } } });
  await settle(project, {
    modelCatalogueUrl: `${server.url}/api.json`,
    providers: { openai: { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k' } },
  });
  expect(await runHere(project, ['models', 'update'], undefined, { env: NOWHERE })).toMatchObject({
    code: 0,
    stdout: `Read 1 model of 1 provider from ${server.url}/api.json.\n`,
  });
  const { stdout } = await runHere(project, ['models', 'gpt-99'], undefined, { env: NOWHERE });
  expect(stdout).toMatch(/^openai\/gpt-99 +OpenAI +5M +1k/m);
  expect(server.asked).toHaveLength(1);
  expect(await readFile(join(project.ouroHome, 'models/openai.json'), 'utf8')).toContain('GPT-99');
});

test('an unreadable address is reported', async () => {
  await using project = await createTempProject();
  await settle(project, { modelCatalogueUrl: 'http://127.0.0.1:1/api.json' });
  expect(await runHere(project, ['models', 'update'], undefined, { env: NOWHERE })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^Cannot read the model catalogue at http:\/\/127\.0\.0\.1:1\/api\.json: .* catalogue is unchanged\.\n$/,
    ),
  });
});
