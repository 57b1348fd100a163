import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from '@dwmkerr/mock-llm/dist/server.js';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { calls, says, status, toolUse } from '../support/api/reply.ts';
import { type Script, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(() => project.remove());

const NO_KEY = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };

/** Models of the requests one run makes. */
async function modelsAsked(args: readonly string[], script: Script, env: Readonly<Record<string, string>> = {}) {
  await using server = await startApiServer(script);
  const end = await runHere(project, ['-p', 'hi', ...args], server.url, { env });
  return {
    ...end,
    models: server.requests().map(({ body }) => body.model),
    bodies: server.requests().map(({ body }) => body),
  };
}

describe('selection of the model', () => {
  longTest('an alias and an effort reach the API', async () => {
    const { code, stdout, bodies } = await modelsAsked(['--model', 'opus', '--effort', 'high'], {
      turns: [says('fine')],
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'fine\n' });
    expect(bodies).toMatchObject([{ model: 'claude-opus-5-5', output_config: { effort: 'high' } }]);
  });

  test('fallbacks are tried in order when models are overloaded or do not exist', async () => {
    const { code, stdout, models } = await modelsAsked(['--model', 'opus', '--fallback-model', 'claude-gone,haiku'], {
      turns: ({ body }) =>
        body.model === 'claude-opus-5-5' ? status(529) : body.model === 'claude-gone' ? status(404) : says('small'),
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'small\n' });
    expect(models).toEqual([
      'claude-opus-5-5',
      'claude-opus-5-5',
      'claude-opus-5-5',
      'claude-gone',
      'claude-haiku-5-5',
    ]);
  });
});

describe('source of the key', () => {
  test('a command in the settings prints it; a failing one is reported, and nothing is sent', async () => {
    await using server = await startApiServer({ turns: [], after: says('in'), apiKey: 'made-up-key' });
    const run = (command: string) =>
      runHere(project, ['-p', 'hi', '--settings', JSON.stringify({ apiKeyHelper: command })], server.url, {
        env: { ANTHROPIC_API_KEY: undefined },
      });
    const [good, bad] = await Promise.all([run('echo made-up-key'), run('exit 3')]);
    expect(good).toMatchObject({ code: 0, stdout: 'in\n' });
    expect(bad.code).toBe(1);
    expect(bad.stderr).toMatch(/apiKeyHelper/);
    expect(server.all()).toHaveLength(1);
  });
});

describe('an OpenAI-compatible server', () => {
  const script: Script = {
    turns: [calls(toolUse('Read', { file_path: 'a.txt' }, 'call_1')), says('It says alpha.')],
  };

  test.each(
    someOf([
      ['by the flag alone', (url: string) => ({ args: ['--model', `${url}/v1#qwen3:8b`], env: {} })],
      [
        'by a name in the settings',
        (url: string) => ({
          args: [
            '--model',
            'mine/qwen3:8b',
            '--settings',
            JSON.stringify({
              providers: { mine: { baseUrl: `${url}/v1`, apiKeyEnv: 'MY_KEY', contextWindow: 64_000 } },
            }),
          ],
          env: { MY_KEY: 'secret' },
        }),
      ],
    ]),
  )('is reached %s, runs tools, and beside what the model can do nothing else is asked', async (how, named) => {
    await using server = await startOpenAiServer(script);
    const { args, env } = named(server.url);
    const ended = await runHere(project, ['-p', 'what is in a.txt?', ...args], undefined, { env });
    expect(ended).toMatchObject({ code: 0, stdout: 'It says alpha.\n' });
    // Of the window the settings tell; of the other one the person is told what is assumed.
    expect(ended.stderr).toMatch(how === 'by the flag alone' ? /^The limits of .* are unknown.*\n$/ : /^$/);
    const chats = server.all().filter(({ path }) => path.endsWith('/chat/completions'));
    expect(chats.map(({ violation, body }) => [violation, body.model])).toEqual([
      [undefined, 'qwen3:8b'],
      [undefined, 'qwen3:8b'],
    ]);
    expect(chats[0]?.headers.authorization).toBe(how === 'by the flag alone' ? undefined : 'Bearer secret');
    expect(chats[1]?.raw).toContain('alpha');
  });

  test('a third-party server streams its answer through the whole program', async () => {
    // It tells its story on stdout; the test run has its own.
    vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const content = JSON.stringify({ id: 'c1', choices: [{ message: { role: 'assistant', content: 'From afar.' } }] });
    const rules = [{ path: '/v1/chat/completions', match: '@', response: { status: 200, content } }];
    const server = createHttpServer(
      createServer({ streaming: { chunkSize: 4, chunkIntervalMs: 1 }, rules }, '127.0.0.1', 0),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`;
    try {
      expect(await runHere(project, ['-p', 'hi', '--model', `${url}#any`], undefined, { env: NO_KEY })).toMatchObject({
        code: 0,
        stdout: 'From afar.\n',
      });
    } finally {
      vi.restoreAllMocks();
      server.closeAllConnections();
      server.close();
    }
  });
});

longTest('timeouts of the settings apply; unknown ones and invalid numbers are reported', async () => {
  await using server = await startApiServer({
    turns: [
      says('never', { faults: [{ at: 3, do: 'wait', until: new Promise(() => undefined), pings: 'pings' }] }),
      calls(toolUse('Bash', { command: 'sleep 100' })),
      says('Came back.'),
    ],
  });
  const timeouts = { streamIdleMs: 400, retryBaseMs: 1, bashMs: 200, soonMs: 3 };
  const args = ['-p', 'go', '--allowedTools', 'Bash', '--settings', JSON.stringify({ timeouts })];
  const { code, stdout, stderr } = await runHere(project, args, server.url, {
    env: { OURO_RETRY_BASE_MS: undefined, OURO_MAX_RETRIES: 'lots' },
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Came back.\n' });
  expect(server.requests()[2]?.raw).toMatch(/the limit of .* is reached/);
  expect(stderr).toMatch(/soonMs/);
  expect(stderr).toMatch(/OURO_MAX_RETRIES is "lots"/);
});
