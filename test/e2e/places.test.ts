import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AWS_KEY, BEDROCK_DIALECT, VERTEX_DIALECT } from '../support/api/cloud-dialects.ts';
import { GEMINI_DIALECT } from '../support/api/gemini-dialect.ts';
import { calls, says, thinking, toolUse } from '../support/api/reply.ts';
import { RESPONSES_DIALECT } from '../support/api/responses-dialect.ts';
import { type ApiServer, startApiServer, startServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { isWholeRun, someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(() => project.remove());

const NO_KEY = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
const AWS = { AWS_ACCESS_KEY_ID: AWS_KEY.id, AWS_SECRET_ACCESS_KEY: AWS_KEY.secret, AWS_REGION: 'us-east-1' };
const looks = (name: string) => ({
  turns: [
    calls(thinking(`${name} thinks.`), toolUse('Read', { file_path: 'a.txt' })),
    says(`${name}: alpha.`),
    says(`${name} again.`),
  ],
});

describe('environment variables of other tools', () => {
  longTest.each(
    someOf(
      [
        ['sonnet', '/model/global.anthropic.claude-sonnet-5-5/'],
        ['us.anthropic.claude-sonnet-4-6', '/model/us.anthropic.claude-sonnet-4-6/'],
      ],
      1,
    ),
  )('CLAUDE_CODE_USE_BEDROCK=1 with --model %s', async (model, path) => {
    await using server = await startServer({ turns: [says('From the cloud.')] }, BEDROCK_DIALECT);
    const env = { ...NO_KEY, ...AWS, CLAUDE_CODE_USE_BEDROCK: '1', ANTHROPIC_BEDROCK_BASE_URL: server.url };
    const end = await runHere(project, ['-p', 'hi', '--model', model], undefined, { env });
    expect(end).toEqual({
      code: 0,
      stdout: 'From the cloud.\n',
      stderr: '',
    });
    expect(server.requests().map((request) => [request.violation, request.path])).toEqual([
      [undefined, expect.stringContaining(path)],
    ]);
  });

  longTest('ANTHROPIC_DEFAULT_SONNET_MODEL names the newest sonnet of a provider', async () => {
    await using server = await startServer({ turns: [], after: says('Hello.') }, BEDROCK_DIALECT);
    const env = {
      ...NO_KEY,
      ...AWS,
      CLAUDE_CODE_USE_BEDROCK: '1',
      ANTHROPIC_BEDROCK_BASE_URL: server.url,
      ANTHROPIC_DEFAULT_SONNET_MODEL: 'eu.anthropic.claude-sonnet-4-6',
    };
    for (const args of [[], ['--model', 'sonnet'], ['--model', 'bedrock/sonnet'], ['--model', 'opus']]) {
      expect(await runHere(project, ['-p', 'hi', ...args], undefined, { env })).toMatchObject({ code: 0 });
    }
    expect(server.requests().map(({ body }) => body.model)).toEqual([
      'eu.anthropic.claude-sonnet-4-6',
      'eu.anthropic.claude-sonnet-4-6',
      'eu.anthropic.claude-sonnet-4-6',
      'global.anthropic.claude-opus-5-5',
    ]);
  });

  longTest('CLAUDE_CODE_USE_VERTEX=1 with ANTHROPIC_MODEL', async () => {
    await using server = await startServer({ turns: [says('From the cloud.')] }, VERTEX_DIALECT);
    const env = {
      ...NO_KEY,
      CLAUDE_CODE_USE_VERTEX: '1',
      ANTHROPIC_MODEL: 'claude-sonnet-4-5@20250929',
      ANTHROPIC_VERTEX_PROJECT_ID: 'p',
      CLOUD_ML_REGION: 'us-east5',
      CLOUDSDK_AUTH_ACCESS_TOKEN: 't',
      ANTHROPIC_VERTEX_BASE_URL: `${server.url}/v1`,
    };
    expect(await runHere(project, ['-p', 'hi'], undefined, { env })).toMatchObject({
      code: 0,
      stdout: 'From the cloud.\n',
    });
    expect(server.requests()[0]?.path).toContain(
      '/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:',
    );
  });

  longTest('CLAUDE_CODE_USE_FOUNDRY=1 with a key, which no command inherits', async () => {
    const turns = [calls(toolUse('Bash', { command: 'printenv' })), says('Done.')];
    await using server = await startApiServer({ turns, apiKey: 'foundry-key' });
    const env = {
      ...NO_KEY,
      CLAUDE_CODE_USE_FOUNDRY: '1',
      ANTHROPIC_FOUNDRY_BASE_URL: `${server.url}/anthropic`,
      ANTHROPIC_FOUNDRY_API_KEY: 'foundry-key',
    };
    const args = ['-p', 'hi', '--allowedTools', 'Bash(printenv)'];
    expect(await runHere(project, args, undefined, { env })).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(server.requests()[1]?.raw).toContain('OURO_HOME=');
    expect(server.requests()[1]?.raw).not.toContain('foundry-key');
  });

  longTest.each(
    someOf(
      [
        [{ CLAUDE_CODE_USE_BEDROCK: '1' }, [], /needs a region\. Set AWS_REGION/],
        [{ CLAUDE_CODE_USE_FOUNDRY: 'true' }, [], /Set ANTHROPIC_FOUNDRY_RESOURCE/],
        [{}, ['--model', 'azure/our-gpt'], /Set AZURE_OPENAI_ENDPOINT/],
      ],
      1,
    ),
  )('with only %j %j, the missing part is named', async (variables, args, words) => {
    const { code, stderr } = await runHere(project, ['-p', 'hi', ...args], undefined, {
      env: { ...NO_KEY, ...variables },
    });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(words);
  });
});

longTest.each(
  someOf(
    [
      ['openai/gpt-5.2', RESPONSES_DIALECT, (url: string) => ({ openai: { baseUrl: `${url}/v1`, api: 'responses' } })],
      [
        'gemini/gemini-3-pro',
        GEMINI_DIALECT,
        (url: string) => ({ gemini: { baseUrl: `${url}/v1beta`, api: 'gemini' } }),
      ],
    ],
    1,
  ),
)('%s answers with the requested schema', async (model, dialect, providersAt) => {
  const answer = { city: 'Köln', people: 1 };
  await using server = await startServer({ turns: [calls(toolUse('StructuredOutput', answer))] }, dialect);
  const schema = { type: 'object', properties: { city: { type: 'string' }, people: { type: 'integer' } } };
  const settings = JSON.stringify({ providers: providersAt(server.url) });
  const args = ['-p', 'go', '--model', model, '--settings', settings, `--json-schema=${JSON.stringify(schema)}`];
  const env = { ...NO_KEY, OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' };
  const { code, stdout } = await runHere(project, args, undefined, { env });
  expect({ code, answer: JSON.parse(stdout) }).toEqual({ code: 0, answer });
  expect(server.requests().map(({ violation }) => violation)).toEqual([undefined]);
});

const ROUTE = [
  ['claude-sonnet-4-6', 'Anthropic: alpha.'],
  ['bedrock/us.anthropic.claude-sonnet-4-6', 'Bedrock: alpha.'],
  ['openai/gpt-5.2', 'OpenAI: alpha.'],
  ['gemini/gemini-3-pro', 'Gemini: alpha.'],
  ['openai/gpt-5.2', 'OpenAI again.'],
  ['bedrock/us.anthropic.claude-sonnet-4-6', 'Bedrock again.'],
  ['claude-sonnet-4-6', 'Anthropic again.'],
] as const;
/** A quick run goes from one dialect to another one and back. */
const route = isWholeRun ? ROUTE : ROUTE.filter(([model]) => /^(?:claude|openai)/.test(model));

test('a session moves through four providers and back, each in its own run', async () => {
  const servers = {
    claude: await startApiServer(looks('Anthropic')),
    bedrock: await startServer(looks('Bedrock'), BEDROCK_DIALECT),
    openai: await startServer(looks('OpenAI'), RESPONSES_DIALECT),
    gemini: await startServer(looks('Gemini'), GEMINI_DIALECT),
  };
  const providers = {
    openai: { baseUrl: `${servers.openai.url}/v1`, apiKey: 'k', api: 'responses' },
    gemini: { baseUrl: `${servers.gemini.url}/v1beta`, apiKey: 'k', api: 'gemini' },
  };
  const env = { ...AWS, ANTHROPIC_BEDROCK_BASE_URL: servers.bedrock.url };
  const run = async (model: string, more: readonly string[]) => {
    const args = ['-p', 'Go on', '--model', model, '--settings', JSON.stringify({ providers }), ...more];
    return (await runHere(project, args, servers.claude.url, { env })).stdout.trim();
  };
  const said: string[] = [];
  for (const [at, [model]] of route.entries()) said.push(await run(model, at === 0 ? [] : ['--continue']));
  const all: readonly ApiServer[] = Object.values(servers);
  await Promise.all(all.map((server) => server.close()));
  expect(said).toEqual(route.map(([, answer]) => answer));
  expect(all.flatMap((server) => server.requests().flatMap(({ violation }) => violation ?? []))).toEqual([]);
});
