import { expect, test } from 'vitest';
import { isLoopbackUrl, resolveProxy } from '../../../src/lib/network/resolve-proxy.ts';

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
  ['https://api.test', { ALL_PROXY: 'http://all.corp:3128' }, 'http://all.corp:3128'],
  ['http://api.test', { all_proxy: 'all.corp:3128' }, 'http://all.corp:3128'],
  ['https://api.test', { ...PROXY, ALL_PROXY: 'http://all.corp:3128' }, 'http://proxy.corp:3128'],
  ['https://api.test', { ALL_PROXY: 'socks5://127.0.0.1:1080' }, undefined],
  ['https://api.test', { ...PROXY, no_proxy: '', NO_PROXY: 'api.test' }, undefined],
])('%s with %j goes through %s', (address, variables, shown) => {
  expect(resolveProxy(address, variables)?.label).toBe(shown);
});

const EVERY_PROXY = { http_proxy: 'proxy.corp:1', https_proxy: 'proxy.corp:1', all_proxy: 'proxy.corp:1' };

test.each([
  'localhost',
  'LOCALHOST',
  'localhost.',
  'models.localhost',
  '127.0.0.1',
  '127.1',
  '127.255.0.9',
  '2130706433',
  '0.0.0.0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
])('%s is this machine, which no proxy may serve', (host) => {
  const addresses = ['http:', 'https:', 'ws:'].flatMap((scheme) => [
    `${scheme}//${host}`,
    `${scheme}//${host}:8080/v1`,
  ]);
  expect(addresses.filter((address) => !isLoopbackUrl(address))).toEqual([]);
  expect(addresses.filter((address) => resolveProxy(address, EVERY_PROXY) !== undefined)).toEqual([]);
});

test.each([
  'localhost.example.com',
  'notlocalhost',
  '127.0.0.1.example.com',
  '128.0.0.1',
  '10.0.0.1',
  '192.168.0.1',
  '[::2]',
  '[::ffff:10.0.0.1]',
  '[fd00::1]',
])('%s may be another machine, which a proxy serves', (host) => {
  expect([isLoopbackUrl(`http://${host}/`), resolveProxy(`http://${host}/`, EVERY_PROXY)?.variable]).toEqual([
    false,
    'http_proxy',
  ]);
});
