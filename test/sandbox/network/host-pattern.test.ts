import { expect, test } from 'vitest';
import {
  fitsDenial,
  fitsPattern,
  namesHost,
  problemOfPattern,
  readGoal,
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
  expect(readGoal(spelled, 443)).toEqual({ host, port: 443 });
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
])('%j is the name of no host', (spelled) => {
  expect(readGoal(spelled, 443)).toBeUndefined();
});

test('a port is a port', () => {
  for (const port of [0, -1, 65_536, 1.5, Number.NaN]) expect(readGoal('example.com', port)).toBeUndefined();
});

const goal = (host: string, port = 443) => readGoal(host, port) ?? { host: '', port: 0 };

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
  expect(fitsPattern(pattern, goal(host))).toBe(fits);
});

test('a denial means all below, and only a whole name names a host', () => {
  expect(fitsDenial('example.com', goal('a.example.com'))).toBe(true);
  expect(fitsDenial('example.com:443', goal('a.example.com'))).toBe(true);
  expect(fitsDenial('example.com', goal('notexample.com'))).toBe(false);
  expect(namesHost('*', goal('localhost'))).toBe(false);
  expect(namesHost('localhost', goal('localhost'))).toBe(true);
});

test('a pattern that names no host is told, with what to write', () => {
  const fine = ['example.com', '*.example.com', '*', '*:443', 'example.com:8080', '[::1]', '10.0.0.1'];
  expect(fine.map(problemOfPattern)).toEqual(fine.map(() => undefined));
  const faults = ['https://example.com', 'example.com/path', 'a b', '', '*.*.example.com', 'example.com:port'];
  for (const fault of faults) expect(problemOfPattern(fault), fault).toContain('names no host');
});
