import { afterEach, expect, test } from 'vitest';
import { fetch } from '../../../src/lib/network/fetch.ts';
import { startJsonServer } from '../../support/json-server.ts';

const PROXIES = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'];

afterEach(() => {
  for (const name of [...PROXIES, 'NO_PROXY']) delete process.env[name];
});

test.each(PROXIES)('a request to this machine goes past %s, another one through it', async (name) => {
  await using server = await startJsonServer({ '/here': 'direct' });
  await using proxy = await startJsonServer({ 'http://models.test/there': 'through the proxy' });
  Object.assign(process.env, { [name]: proxy.url, NO_PROXY: 'example.com' });
  const local = [server.url, server.url.replace('127.0.0.1', 'localhost')].map((origin) => `${origin}/here`);
  const requests = [
    ...local,
    new URL(`${server.url}/here`),
    new Request(`${server.url}/here`),
    'http://models.test/there',
  ];
  const answers = await Promise.all(requests.map(async (request) => (await fetch(request)).json()));
  expect(answers).toEqual(['direct', 'direct', 'direct', 'direct', 'through the proxy']);
  expect([server.asked.length, proxy.asked.map(({ path }) => path)]).toEqual([4, ['http://models.test/there']]);
});
