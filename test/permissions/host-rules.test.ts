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
