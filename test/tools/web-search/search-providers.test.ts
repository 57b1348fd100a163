import { expect, test } from 'vitest';
import type { WebSearchSettings } from '../../../src/contracts/settings.ts';
import { fetch } from '../../../src/lib/network/fetch.ts';
import { createProviderSearch } from '../../../src/tools/web-search/search-providers.ts';
import type { WebSearchOptions } from '../../../src/tools/web-search/web-search.ts';
import { startJsonServer } from '../../support/json-server.ts';

const KEY = 'key-of-the-user-123';
const VARIABLES = { PATH: '/usr/bin:/bin' };

function searchWith(
  settings: WebSearchSettings,
  query: string,
  options: WebSearchOptions = {},
  key: string | undefined = KEY,
) {
  const search = createProviderSearch({ settings, key, send: fetch, variables: VARIABLES });
  return search(query, options, new AbortController().signal);
}

test('Brave: key in its header, domains in the query, marks taken out of the descriptions', async () => {
  const results = [
    { title: 'Bun 1.4', url: 'https://bun.example/1.4', description: '<strong>Bun</strong> 1.4 is out' },
    { title: 'Elsewhere', url: 'https://other.example/', description: 'not asked for' },
  ];
  const path = '/res/v1/web/search?q=bun+release+site%3Abun.example&count=3';
  await using server = await startJsonServer({ [path]: { type: 'search', web: { results } } });
  const settings = { provider: 'brave', baseUrl: server.url, maxResults: 3 } as const;
  const { text, pages } = await searchWith(settings, 'bun release', { allowedDomains: ['bun.example'] });
  expect(pages.map(({ url }) => url)).toEqual(['https://bun.example/1.4']);
  expect(text).toBe('## Bun 1.4\nhttps://bun.example/1.4\nBun 1.4 is out');
  expect(server.asked.map(({ method, headers }) => [method, headers['x-subscription-token']])).toEqual([['GET', KEY]]);
});

test('Tavily: a bearer key, domains as fields, its answer first', async () => {
  const results = [{ title: 'A', url: 'https://a.example/x', content: 'text of a', score: 0.9 }];
  await using server = await startJsonServer({ '/search': { query: 'q', answer: 'It is A.', results } });
  const settings = { provider: 'tavily', baseUrl: `${server.url}/` } as const;
  const { text } = await searchWith(settings, 'what is it', { blockedDomains: ['b.example'] });
  expect(text).toBe('It is A.\n\n## A\nhttps://a.example/x\ntext of a');
  const [asked] = server.asked;
  expect(asked?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(JSON.parse(asked?.body ?? '')).toEqual({
    query: 'what is it',
    max_results: 8,
    exclude_domains: ['b.example'],
  });
});

test('Exa: its own key header, the text of pages, titles that may be missing', async () => {
  const results = [
    { id: '1', title: null, url: 'https://a.example/x', text: 'x'.repeat(5000) },
    { id: '2', title: 'B', url: 'https://b.example/', text: null },
  ];
  await using server = await startJsonServer({ '/search': { requestId: 'r', results } });
  const { text, pages } = await searchWith({ provider: 'exa', baseUrl: server.url }, 'deep');
  expect(pages.map(({ title }) => title)).toEqual(['https://a.example/x', 'B']);
  expect(text.length).toBeLessThan(2000);
  const [asked] = server.asked;
  expect(asked?.headers['x-api-key']).toBe(KEY);
  expect(JSON.parse(asked?.body ?? '')).toMatchObject({ query: 'deep', numResults: 8, contents: { text: {} } });
});

test('SearXNG: an instance of the user, without a key', async () => {
  const answer = { query: 'q', results: [{ title: 'A', url: 'https://a.example/', content: 'about a' }] };
  await using server = await startJsonServer({ '/search?q=linux&format=json': answer });
  const settings = { provider: 'searxng', baseUrl: server.url } as const;
  expect((await searchWith(settings, 'linux', {}, '')).text).toBe('## A\nhttps://a.example/\nabout a');
  expect(server.asked[0]?.headers.authorization).toBeUndefined();
  await expect(searchWith({ provider: 'searxng' }, 'linux')).rejects.toThrow('SearXNG needs webSearch.baseUrl');
});

test('a command gets the query as JSON and prints results, or plain text', async () => {
  const command = `q=$(cat); printf '{"answer":"asked %s","results":[{"title":"T","url":"https://t.example","text":"x"}]}' "$(echo "$q" | tr -d '"')"`;
  const { text, pages } = await searchWith({ provider: 'command', command }, 'linux', {
    allowedDomains: ['t.example'],
  });
  expect(text).toBe('asked {query:linux,allowedDomains:[t.example]}\n\n## T\nhttps://t.example\nx');
  expect(pages).toHaveLength(1);
  expect(await searchWith({ provider: 'command', command: 'echo found nothing' }, 'x')).toEqual({
    text: 'found nothing',
    pages: [],
  });
  await expect(searchWith({ provider: 'command', command: 'echo no >&2; exit 3' }, 'x')).rejects.toThrow(
    /The search failed: webSearch\.command/,
  );
  await expect(searchWith({ provider: 'command', command: 'echo {' }, 'x')).rejects.toThrow('The search failed');
});

test('what goes wrong names the provider and never the key', async () => {
  await using server = await startJsonServer({});
  const refused = searchWith({ provider: 'brave', baseUrl: server.url }, 'x');
  await expect(refused).rejects.toThrow(/brave \(127\.0\.0\.1:\d+\) answered with status 404/);
  await expect(searchWith({ provider: 'tavily' }, 'x', {}, '')).rejects.toThrow(
    'tavily needs a key. The user has to set TAVILY_API_KEY, or webSearch.apiKeyEnv in the settings.',
  );
  const gone = await searchWith({ provider: 'exa', baseUrl: 'http://127.0.0.1:1' }, KEY).catch(String);
  expect(gone).toContain('could not be reached');
  expect(gone).not.toContain(KEY);
  await using odd = await startJsonServer({ '/search': Buffer.from('<html>') });
  await expect(searchWith({ provider: 'exa', baseUrl: odd.url }, 'x')).rejects.toThrow('did not answer with JSON');
});
