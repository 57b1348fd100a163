import { expect, test } from 'vitest';
import { withoutSecrets } from '../../../src/lib/text/secrets.ts';

test.each([
  ['key sk-ant-api03-0123456789 here', 'key [secret] here'],
  ['ghp_0123456789abcdefghij', '[secret]'],
  ['AKIAIOSFODNN7EXAMPLE', '[secret]'],
  ['eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4', '[secret]'],
  ['Authorization: Bearer abcdef0123456789', 'Authorization: Bearer [secret]'],
  ['postgres://me:hunter22@db/x', 'postgres://me:[secret]@db/x'],
  ['{"password":"correct horse"}', '{"password":"[secret] horse"}'],
  ['-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----', '[secret]'],
  ['nothing to hide: task-list, risk-free, disk', 'nothing to hide: task-list, risk-free, disk'],
])('%s becomes %s', (text, clean) => {
  expect(withoutSecrets(text)).toBe(clean);
});
