import { expect, test } from 'vitest';
import { isSecretVariable } from '../../src/sandbox/credentials.ts';

test.each([
  ...[
    'ANTHROPIC_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'NPM_TOKEN',
    'PGPASSWORD',
    'GH_PAT',
    'MYSQL_PWD',
    'DB_PASS',
    'PASS',
  ],
  ...[
    'AZURE_STORAGE_CONNECTION_STRING',
    'SLACK_WEBHOOK_URL',
    'JWT',
    'SUPABASE_JWT',
    'WALLET_MNEMONIC',
    'SSH_AUTH_SOCK',
  ],
])('%s is a secret by its name', (name) => {
  expect(isSecretVariable(name, 'x')).toBe(true);
});

test.each([
  ['an address with a login', 'postgres://me:word@db.test/x'],
  ['one without a user', 'redis://:word@cache.test:6379'],
  ['a proxy with a login', 'http://me:w%40rd@proxy.test:8080/'],
  ['a key of a well-known place', `ghp_${'a'.repeat(36)}`],
  ['a key of a cloud', 'AKIAABCDEFGHIJKLMNOP'],
  ['a ticket', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig`],
  ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nx'],
])('a variable of any name is a secret by its value: %s', (_, value) => {
  expect(isSecretVariable('ANYTHING', value)).toBe(true);
});

test.each([
  ['PATH', '/opt/token:/usr/bin:/home/me/.password-store/bin'],
  ['HOME', '/home/me'],
  ['PWD', '/home/me'],
  ['OLDPWD', '/home/me'],
  ['LANG', 'C.UTF-8'],
  ['KEYBOARD', 'de'],
  ['GOPATH', '/home/me/go'],
  ['COMPASS', 'x'],
  ['PASSES', '3'],
  ['HTTP_PROXY', 'http://proxy.test:8080'],
  ['GOPROXY', 'https://proxy.test,direct'],
  ['LS_COLORS', 'di=01;34:ln=01;36'],
  ['npm_config_user_agent', 'npm/11.0.0 node/v24'],
  ['TERM_SESSION_ID', 'w0t0p0:1-2-3'],
])('%s is not a secret', (name, value) => {
  expect(isSecretVariable(name, value)).toBe(false);
});
