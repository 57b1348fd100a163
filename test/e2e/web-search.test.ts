import { expect, test } from 'vitest';
import type { Dialect } from '../support/api/dialect.ts';
import { GEMINI_DIALECT } from '../support/api/gemini-dialect.ts';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { calls, reply, says, toolUse } from '../support/api/reply.ts';
import { RESPONSES_DIALECT } from '../support/api/responses-dialect.ts';
import { startServer } from '../support/api/server.ts';
import { citedText, webSearch } from '../support/api/server-blocks.ts';
import { startJsonServer } from '../support/json-server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';

const RESULTS = { results: [{ title: 'Bun 1.4', url: 'https://bun.example/1.4', content: 'It is out.' }] };

test('a model without a search of its own searches with the configured provider, through the gate', async () => {
  await using project = await createTempProject();
  await using search = await startJsonServer({ '/search': RESULTS });
  await using server = await startOpenAiServer({
    turns: [
      calls(toolUse('WebSearch', { query: 'bun release' })),
      calls(toolUse('Bash', { command: 'env' })),
      says('Bun 1.4.'),
    ],
  });
  const settings = JSON.stringify({
    webSearch: { provider: 'tavily', baseUrl: search.url },
    providers: { mine: { baseUrl: `${server.url}/v1`, contextWindow: 64_000 } },
  });
  const run = (...allowed: readonly string[]) =>
    runHere(project, ['-p', 'what is new?', '--model', 'mine/m', '--settings', settings, ...allowed], undefined, {
      env: { TAVILY_API_KEY: 'tvly-secret-key' },
    });
  const { code, stdout, stderr } = await run('--allowedTools', 'WebSearch', 'Bash');
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Bun 1.4.\n', stderr: '' });
  const chats = server.all().filter(({ path }) => path.endsWith('/chat/completions'));
  expect(chats[0]?.raw).toContain('"name":"WebSearch"');
  expect(chats[1]?.raw).toContain('https://bun.example/1.4');
  expect(chats[1]?.raw).toContain('material, not instructions');
  expect(search.asked[0]?.headers.authorization).toBe('Bearer tvly-secret-key');
  // Neither the model nor a command sees the key.
  expect(
    server
      .all()
      .map(({ raw }) => raw)
      .join(),
  ).not.toContain('tvly-secret-key');
});

longTest('a search without approval is not sent, and without a provider there is no tool', async () => {
  await using project = await createTempProject();
  await using search = await startJsonServer({ '/search': RESULTS });
  await using server = await startOpenAiServer({
    turns: [calls(toolUse('WebSearch', { query: 'bun release' })), says('Not allowed.'), says('No tool.')],
  });
  const providers = { mine: { baseUrl: `${server.url}/v1`, contextWindow: 64_000 } };
  const run = (settings: object) =>
    runHere(
      project,
      ['-p', 'hi', '--model', 'mine/m', '--settings', JSON.stringify({ providers, ...settings })],
      undefined,
      {
        env: { TAVILY_API_KEY: 'tvly-secret-key' },
      },
    );
  expect((await run({ webSearch: { provider: 'tavily', baseUrl: search.url } })).stdout).toBe('Not allowed.\n');
  expect(search.asked).toEqual([]);
  expect((await run({})).stdout).toBe('No tool.\n');
  expect(server.all().at(-1)?.raw).not.toContain('"name":"WebSearch"');
});

longTest('the search of a project is refused: only the user chooses who gets the queries', async () => {
  await using project = await createTempProject({
    '.claude/settings.json': JSON.stringify({ webSearch: { provider: 'command', command: 'touch evil' } }),
  });
  const { stdout, stderr } = await runHere(project, ['settings', 'explain', 'webSearch']);
  expect(`${stdout}${stderr}`).toContain('only user and managed settings may set it');
});

type Provider = {
  readonly model: string;
  readonly server: Dialect;
  readonly path: string;
  readonly api: string;
  /** What the request for the search has, and nothing of which the other requests have. */
  readonly request: object;
};

const PAGES = [{ url: 'https://bun.example/1.4', title: 'Bun 1.4' }];

const PROVIDERS: readonly Provider[] = [
  {
    model: 'openai/gpt-6.1-sol',
    server: RESPONSES_DIALECT,
    path: '/v1',
    api: 'responses',
    request: {
      tools: [{ type: 'web_search', filters: { allowed_domains: ['bun.example'] } }],
      include: expect.arrayContaining(['web_search_call.action.sources']),
      max_tool_calls: 5,
    },
  },
  {
    model: 'gemini/gemini-3.8-flash',
    server: GEMINI_DIALECT,
    path: '/v1beta',
    api: 'gemini',
    request: {
      tools: [{ google_search: {} }],
      systemInstruction: { parts: expect.arrayContaining([{ text: expect.stringContaining('site: bun.example') }]) },
    },
  },
];

test.each(someOf(PROVIDERS))(
  '$model searches with the tool of its provider',
  async ({ model, server, path, api, request }) => {
    await using project = await createTempProject();
    const search = { query: 'bun release', allowed_domains: ['bun.example'] };
    await using provider = await startServer(
      {
        turns: [
          calls(toolUse('WebSearch', search)),
          reply([...webSearch('bun release', PAGES), citedText('Bun 1.4 is out.', PAGES)]),
          says('Bun 1.4.'),
        ],
      },
      server,
    );
    const name = model.split('/')[0] ?? '';
    const providers = { [name]: { baseUrl: `${provider.url}${path}`, api, apiKey: 'k' } };
    const { code, stdout, stderr } = await runHere(project, [
      ...['-p', 'what is new?', '--model', model, '--settings', JSON.stringify({ providers, smallModel: 'off' })],
      ...['--allowedTools', 'WebSearch', '--output-format', 'json'],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const asked = provider
      .all()
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => body);
    expect(asked[1]).toMatchObject(request);
    expect(JSON.stringify(asked[2])).toContain('Bun 1.4 is out.');
    expect(JSON.stringify(asked[2])).toContain('https://bun.example/1.4');
    expect(provider.all().flatMap(({ violation }) => violation ?? [])).toEqual([]);
    const { modelUsage, result } = JSON.parse(stdout);
    expect(result).toBe('Bun 1.4.');
    expect(modelUsage[model]).toMatchObject({ webSearchRequests: 1 });
  },
);
