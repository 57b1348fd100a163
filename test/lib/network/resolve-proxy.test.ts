import { expect, test } from 'vitest';
import { resolveProxy } from '../../../src/lib/network/resolve-proxy.ts';

const PROXY = { HTTPS_PROXY: 'http://me:secret@proxy.corp:3128' };

test.each([
  ['https://api.test', PROXY, 'http://proxy.corp:3128'],
  ['http://api.test', PROXY, undefined],
  ['http://api.test', { http_proxy: 'proxy.corp:3128' }, 'http://proxy.corp:3128'],
  ['https://api.test', { https_proxy: 'socks5://127.0.0.1:1080' }, 'socks5://127.0.0.1:1080'],
  ['https://api.test', { HTTPS_PROXY: ' ' }, undefined],
  ['https://api.test', { HTTPS_PROXY: 'http://' }, 'http://'],
  ['https://api.test', { ...PROXY, NO_PROXY: '*' }, undefined],
  ['https://api.test', { ...PROXY, NO_PROXY: 'localhost, .test' }, undefined],
  ['https://a.api.test', { ...PROXY, no_proxy: 'api.test' }, undefined],
  ['https://xapi.test', { ...PROXY, NO_PROXY: 'api.test' }, 'http://proxy.corp:3128'],
  ['https://api.test:8443', { ...PROXY, NO_PROXY: 'api.test:8443' }, undefined],
  ['https://api.test', { ...PROXY, NO_PROXY: 'api.test:8443' }, 'http://proxy.corp:3128'],
  ['nonsense', PROXY, undefined],
])('%s with %j goes through %s', (address, variables, shown) => {
  expect(resolveProxy(address, variables)?.label).toBe(shown);
});
