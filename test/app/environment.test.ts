import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';

test('limits are whole numbers, and each other value is reported with its variable', () => {
  const { limits, problems } = readEnvironment({
    HOME: '/home/me',
    OURO_MAX_RETRIES: '0',
    OURO_BASH_TIMEOUT_MS: '5000',
    OURO_HOOK_TIMEOUT_MS: '1.5',
    OURO_MCP_TIMEOUT_MS: '',
  });
  expect(Object.entries(limits).filter(([, value]) => value !== undefined)).toEqual([
    ['maxRetries', 0],
    ['bashTimeoutMs', 5000],
  ]);
  expect(problems).toEqual(['OURO_HOOK_TIMEOUT_MS is "1.5", which is not a whole number. It is ignored.']);
});

const OF_LAUNCHER = [
  ['below HOME', { HOME: '/home/me' }, '/home/me/.cache/ouro'],
  ['below the home of Windows', { USERPROFILE: '/users/me' }, '/users/me/.cache/ouro'],
  ['below an empty HOME', { HOME: '', USERPROFILE: '/users/me' }, '/users/me/.cache/ouro'],
  [
    'in the data folder of Windows',
    { HOME: '/home/me', LOCALAPPDATA: '/users/me/local' },
    '/users/me/local/ouro/cache',
  ],
  ['in the cache folder', { HOME: '/home/me', LOCALAPPDATA: '/local', XDG_CACHE_HOME: '/cache' }, '/cache/ouro'],
  ['in a cache folder with a slash', { HOME: '/home/me', XDG_CACHE_HOME: '/cache/' }, '/cache//ouro'],
  ['nowhere', { HOME: '/home/me' }, '0'],
] as const;

test.each(OF_LAUNCHER)('programs do not inherit the transpiler cache of the launcher %s', (_, env, path) => {
  const { variables } = readEnvironment({ ...env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: path });
  expect(variables).toEqual(env);
});

test('programs inherit a transpiler cache that the user chose', () => {
  const env = { HOME: '/home/me', BUN_RUNTIME_TRANSPILER_CACHE_PATH: '/home/me/.bun-cache' };
  expect(readEnvironment(env).variables).toEqual(env);
});
