import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { ownSecrets } from '../../../src/fleet/worker/own-secrets.ts';

const secrets = ownSecrets(
  readEnvironment({
    HOME: '/home/me',
    ANTHROPIC_API_KEY: 'no-shape-4711"quoted',
    PGPASSWORD: 'postgres',
    NPM_TOKEN: 'letmein99',
    STAGE: 'production-2026',
  }),
  { env: ['NPM_TOKEN', 'STAGE'] },
);

test('keys and tokens are taken out by their value, also as JSON spells them', () => {
  expect(secrets.hide('a letmein99 b no-shape-4711"quoted')).toBe('a [secret] b [secret]');
  expect(secrets.hide(JSON.stringify({ x: 'no-shape-4711"quoted' }))).toBe('{"x":"[secret]"}');
});

test('words that are no key, and variables that let nobody in, stay', () => {
  const text = 'postgres in production-2026';
  expect(secrets.hide(text)).toBe(text);
  expect(secrets.isIn(Buffer.from(text))).toBe(false);
});

test('a patch that holds one is found, and so is an answer', () => {
  expect(secrets.isIn(Buffer.from('+token = letmein99\n'))).toBe(true);
  const result = {
    answer: 'letmein99',
    structured: { token: ['letmein99'] },
    verified: 'not asked',
    turns: 1,
    machine: 'here',
    session: 's',
    denials: 0,
    stat: { files: 0, added: 0, removed: 0 },
    notes: ['letmein99'],
  } as const;
  expect(secrets.hideIn({ kind: 'done', result })).toMatchObject({
    result: { answer: '[secret]', structured: { token: ['[secret]'] }, notes: ['[secret]'] },
  });
  expect(secrets.hideIn({ kind: 'back', reason: 'letmein99', afterMs: 0 })).toMatchObject({ reason: '[secret]' });
});
