import { expect, test } from 'vitest';
import { decideTool, makeFixture, type Setup } from './fixture.ts';

const fixture = makeFixture();
const fetching = (host: string, setup: Setup) =>
  decideTool(fixture, 'WebFetch', { url: `https://${host}/x` }, setup).verdict;

test('deny and ask rules for a host include its subdomains, an allow rule does not', () => {
  const allow = ['WebFetch'];
  const hosts = ['evil.com', 'EVIL.com', 'evil.com.', 'a.evil.com', 'a.b.Evil.com', 'evil.com:8443'];
  for (const rule of ['domain:evil.com', 'domain:Evil.COM', 'domain:evil.com.'])
    for (const host of hosts) {
      expect([rule, host, fetching(host, { allow, deny: [`WebFetch(${rule})`] })]).toEqual([rule, host, 'deny']);
      expect([rule, host, fetching(host, { allow, ask: [`WebFetch(${rule})`] })]).toEqual([rule, host, 'ask']);
    }
  const others = ['notevil.com', 'evil.com.example.org', 'evil.co'];
  expect(
    others.filter((host) => fetching(`x${host}`, { allow, deny: ['WebFetch(domain:evil.com)'] }) !== 'allow'),
  ).toEqual([]);
  expect(['evil.com', 'a.evil.com'].map((host) => fetching(host, { allow: ['WebFetch(domain:evil.com)'] }))).toEqual([
    'allow',
    'ask',
  ]);
  expect(fetching('a.example.com', { allow: ['WebFetch(domain:*.example.com)'] })).toBe('allow');
});

test('an address is asked about as the network code judges it, whatever the rules allow', () => {
  const public4 = ['8.8.8.8', '100.63.255.255', '172.32.0.1', '192.0.1.1', '198.20.0.1'];
  const private4 = ['10.0.0.1', '127.1', '0x7f.1', '168.63.129.16', '169.254.169.254', '192.88.99.1', '198.51.100.7'];
  const public6 = ['[2606:4700:4700::1111]', '[64:ff9b::8.8.8.8]'];
  const private6 = ['[::1]', '[::ffff:8.8.8.8]', '[2001:2::1]', '[2001:db8::1]', '[3fff::1]', '[64:ff9b::10.0.0.1]'];
  const verdicts = (hosts: readonly string[]) =>
    Object.fromEntries(hosts.map((host) => [host, fetching(host, { allow: ['WebFetch'] })]));
  const all = (hosts: readonly string[], verdict: string) => Object.fromEntries(hosts.map((host) => [host, verdict]));
  expect(verdicts([...public4, ...public6])).toEqual(all([...public4, ...public6], 'allow'));
  expect(verdicts([...private4, ...private6])).toEqual(all([...private4, ...private6], 'deny'));
});

test('international names are compared in their ASCII form', () => {
  expect(fetching('bücher.de', { allow: ['WebFetch'], deny: ['WebFetch(domain:bücher.de)'] })).toBe('deny');
  expect(fetching('xn--bcher-kva.de', { allow: ['WebFetch'], deny: ['WebFetch(domain:Bücher.de)'] })).toBe('deny');
});

test('a server name with special characters is matched by its name', () => {
  const verdictOf = (rule: string) =>
    decideTool(fixture, 'mcp__my_server__run', {}, { allow: ['mcp__my_server'], deny: [rule] }).verdict;
  for (const rule of [
    'mcp__my.server',
    'mcp__my.server__run',
    'mcp__my.server__*',
    'mcp__my_server',
    'mcp__my:server__run',
  ])
    expect([rule, verdictOf(rule)]).toEqual([rule, 'deny']);
  expect(verdictOf('mcp__other.server')).toBe('allow');
});
