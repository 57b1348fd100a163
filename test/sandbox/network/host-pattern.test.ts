import { expect, test } from 'vitest';
import {
  findHostPatternProblem,
  isExactHost,
  matchesDeniedHost,
  matchesHostPattern,
  parseNetworkDestination,
} from '../../../src/sandbox/network/host-pattern.ts';

test.each([
  ['example.com', 'example.com'],
  ['EXAMPLE.com.', 'example.com'],
  ['bücher.de', 'xn--bcher-kva.de'],
  ['ｅxample.com', 'example.com'],
  ['127.1', '127.0.0.1'],
  ['0x7f.0.0.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['[::1]', '::1'],
  ['::ffff:127.0.0.1', '::ffff:7f00:1'],
  ['my_host.test', 'my_host.test'],
] as const)('%s is the host %s', (spelled, host) => {
  expect(parseNetworkDestination(spelled, 443)).toEqual({ host, port: 443 });
});

test.each([
  '',
  '.',
  'evil.test\0.example.com',
  'evil.test/.example.com',
  'evil.test#.example.com',
  'evil.test?.example.com',
  'evil.test@example.com',
  'evil.test\\.example.com',
  'evil.test%2f.example.com',
  'evil.test .example.com',
  'evil.test\r\nHost: example.com',
  'example.com:443',
  'a..b',
  '.example.com',
  '[::1',
  'a'.repeat(300),
  '1.2.3.4.5.6.7.8',
  '256.256.256.256',
])('%j is not a host name', (spelled) => {
  expect(parseNetworkDestination(spelled, 443)).toBeUndefined();
});

test('ports are validated', () => {
  for (const port of [0, -1, 65_536, 1.5, Number.NaN])
    expect(parseNetworkDestination('example.com', port)).toBeUndefined();
});

const goal = (host: string, port = 443) => parseNetworkDestination(host, port) ?? { host: '', port: 0 };

test.each([
  ['example.com', 'example.com', true],
  ['Example.COM.', 'example.com', true],
  ['example.com', 'www.example.com', false],
  ['example.com', 'notexample.com', false],
  ['*.example.com', 'www.example.com', true],
  ['*.example.com', 'a.b.example.com', true],
  ['*.example.com', 'example.com', false],
  ['*.example.com', 'notexample.com', false],
  ['*.0.0.1', '127.0.0.1', false],
  ['example.com:443', 'example.com', true],
  ['example.com:80', 'example.com', false],
  ['*.example.com:443', 'www.example.com', true],
  ['*', 'example.com', true],
  ['*:22', 'example.com', false],
  ['[::1]:443', '::1', true],
  ['127.0.0.1', '0x7f000001', true],
  ['*example.com', 'example.com', false],
  ['*example.com', 'notexample.com', false],
  ['ex*.com', 'example.com', false],
  ['', 'example.com', false],
] as const)('the pattern %s and the host %s: %s', (pattern, host, fits) => {
  expect(matchesHostPattern(pattern, goal(host))).toBe(fits);
});

test('a denied host includes its subdomains, and only complete names are hosts', () => {
  expect(matchesDeniedHost('example.com', goal('a.example.com'))).toBe(true);
  expect(matchesDeniedHost('example.com:443', goal('a.example.com'))).toBe(true);
  expect(matchesDeniedHost('example.com', goal('notexample.com'))).toBe(false);
  expect(isExactHost('*', goal('localhost'))).toBe(false);
  expect(isExactHost('localhost', goal('localhost'))).toBe(true);
});

test('a pattern that is no host is reported with the right form', () => {
  const fine = ['example.com', '*.example.com', '*', '*:443', 'example.com:8080', '[::1]', '10.0.0.1'];
  expect(fine.map(findHostPatternProblem)).toEqual(fine.map(() => undefined));
  const faults = ['https://example.com', 'example.com/path', 'a b', '', '*.*.example.com', 'example.com:port'];
  for (const fault of faults) expect(findHostPatternProblem(fault), fault).toContain('is not a valid host pattern');
});
