import { readEnvironment } from '@ouro-cli/ouro/commands';
import { expect, test } from 'vitest';
import { createTaskSecretRedactor } from '../../src/worker/task-secret-redactor.ts';

const secrets = createTaskSecretRedactor(
  readEnvironment({
    HOME: '/home/me',
    ANTHROPIC_API_KEY: 'no-shape-4711"quoted',
    PGPASSWORD: 'postgres',
    NPM_TOKEN: 'letmein99',
    STAGE: 'production-2026',
    LICENCE: 'licence-2026-0815',
  }),
  { env: ['NPM_TOKEN', 'STAGE'], secrets: ['LICENCE'] },
);

test('keys and tokens are removed by value, also as escaped in JSON', () => {
  expect(secrets.redact('a letmein99 b no-shape-4711"quoted')).toBe('a [secret] b [secret]');
  expect(secrets.redact('licence-2026-0815')).toBe('[secret]');
  expect(secrets.redact(JSON.stringify({ x: 'no-shape-4711"quoted' }))).toBe('{"x":"[secret]"}');
});

test('values that are no secrets, and public variables, stay', () => {
  const text = 'postgres in production-2026';
  expect(secrets.redact(text)).toBe(text);
  expect(secrets.isContainedIn(Buffer.from(text))).toBe(false);
});

test('a patch with a secret is found, and so is an answer', () => {
  expect(secrets.isContainedIn(Buffer.from('+token = letmein99\n'))).toBe(true);
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
  expect(secrets.redactEnd({ kind: 'done', result })).toMatchObject({
    result: { answer: '[secret]', structured: { token: ['[secret]'] }, notes: ['[secret]'] },
  });
  expect(secrets.redactEnd({ kind: 'back', reason: 'letmein99', afterMs: 0 })).toMatchObject({ reason: '[secret]' });
});
