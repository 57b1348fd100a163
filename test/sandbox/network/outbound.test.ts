import { expect, test } from 'vitest';
import { resolveNetworkDestination } from '../../../src/sandbox/network/outbound.ts';

const CLOSED = { ok: false, found: 'closed', problem: 'x.test resolves to an address that is not public' };

async function leads(addresses: readonly string[], named: readonly string[] = [], host = 'x.test') {
  return resolveNetworkDestination({ host, port: 443 }, named, async () => addresses);
}

test.each([
  '127.0.0.1',
  '10.0.0.1',
  '192.168.1.1',
  '172.16.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  'fd00::1',
  'fe80::1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '::',
])('a name that resolves to %s is not followed', async (address) => {
  expect(await leads([address])).toEqual(CLOSED);
  expect(await leads([address], ['*', '*.test'])).toEqual(CLOSED);
  expect(await leads([address, '93.184.216.34'])).toEqual({ ok: true, addresses: ['93.184.216.34'] });
});

test('a name in the settings may resolve to a private network, never to this machine or a metadata service', async () => {
  expect(await leads(['10.0.0.1'], ['x.test'])).toEqual({ ok: true, addresses: ['10.0.0.1'] });
  for (const address of ['127.0.0.1', '::1', '::ffff:7f00:1', '169.254.169.254', '0.0.0.0', 'fe80::1'])
    expect(await leads([address], ['x.test'])).toEqual(CLOSED);
});

test('an address in the settings is reached, also by its name', async () => {
  expect(await leads(['127.0.0.1'], ['127.0.0.1:443'])).toEqual({ ok: true, addresses: ['127.0.0.1'] });
  expect(await leads(['127.0.0.1'], ['127.0.0.1:80'])).toEqual(CLOSED);
  expect(await leads(['127.0.0.1'], ['localhost'], 'localhost')).toEqual({ ok: true, addresses: ['127.0.0.1'] });
});

test('an unknown host is reported', async () => {
  expect(await leads([])).toEqual({ ok: false, found: 'nothing', problem: 'x.test could not be resolved' });
});
