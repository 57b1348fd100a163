import { expect, test } from 'vitest';
import { redactSecrets, stringifyRedacted } from '../../../src/lib/text/redact-secrets.ts';

test.each([
  ['key sk-ant-api03-0123456789 here', 'key [secret] here'],
  ['ghp_0123456789abcdefghij', '[secret]'],
  ['AKIAIOSFODNN7EXAMPLE', '[secret]'],
  ['eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4', '[secret]'],
  ['Authorization: Bearer abcdef0123456789', 'Authorization: Bearer [secret]'],
  ['postgres://me:hunter22@db/x', 'postgres://me:[secret]@db/x'],
  ['{"password":"correct horse"}', '{"password":"[secret] horse"}'],
  ['-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----', '[secret]'],
  ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG', 'AWS_SECRET_ACCESS_KEY=[secret]'],
  ['export DB_PASSWORD="hunter2hunter2"', 'export DB_PASSWORD="[secret]"'],
  ['Authorization: Basic dXNlcjpwYXNzd29yZA==', 'Authorization: Basic [secret]'],
  ['sk_live_0123456789abcdefgh glpat-0123456789abcdefghij', '[secret] [secret]'],
  ['inputTokens: 1234567, "total_tokens":123456', 'inputTokens: 1234567, "total_tokens":123456'],
  ['nothing to hide: task-list, risk-free, disk', 'nothing to hide: task-list, risk-free, disk'],
])('%s becomes %s', (text, clean) => {
  expect(redactSecrets(text)).toBe(clean);
});

test.each([
  'ghp_0123456789abcdefghij',
  'AKIAIOSFODNN7EXAMPLE',
  'npm_0123456789abcdefghijABCDEF',
  'xoxb-0123456789abcdefghij',
])('a token in logged output is masked, at the start of a line too: %s', (token) => {
  const logged = stringifyRedacted({ result: { content: `line\n${token}\n\t${token} "${token}"` }, count: 1 });
  expect(JSON.parse(logged)).toEqual({ result: { content: 'line\n[secret]\n\t[secret] "[secret]"' }, count: 1 });
});
