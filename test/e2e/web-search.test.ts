import { expect, test } from 'vitest';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startJsonServer } from '../support/json-server.ts';
import { runHere } from '../support/run-here.ts';
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

test('a search that nobody has allowed is not sent, and without a provider there is no tool', async () => {
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

test('the search of a project is refused: only the user chooses who gets the queries', async () => {
  await using project = await createTempProject({
    '.claude/settings.json': JSON.stringify({ webSearch: { provider: 'command', command: 'touch evil' } }),
  });
  const { stdout, stderr } = await runHere(project, ['settings', 'explain', 'webSearch']);
  expect(`${stdout}${stderr}`).toContain('only user and managed settings may set it');
});
