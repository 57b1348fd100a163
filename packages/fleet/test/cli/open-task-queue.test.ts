import { expect, test } from 'vitest';
import { isSecureQueueUrl } from '../../src/cli/open-task-queue.ts';

test.each([
  ['postgres://ouro@db.example.com/ouro', false],
  ['postgres://ouro@db.example.com/ouro?sslmode=disable', false],
  ['postgres://ouro@db.example.com/ouro?sslmode=prefer', false],
  ['postgres://ouro@db.example.com/ouro?sslmode=require', true],
  ['postgresql://ouro@db.example.com:6432/ouro?sslmode=verify-full', true],
  ['postgres://ouro@db.example.com/ouro?ssl=true', true],
  ['postgres://ouro@localhost/ouro', true],
  ['postgres://ouro@127.0.0.1:5432/ouro', true],
  ['postgres://ouro@[::1]/ouro', true],
  ['postgres://ouro@localhost/ouro?host=%2Fvar%2Frun%2Fpostgresql', true],
  ['postgres://ouro@localhost/ouro?host=db.example.com', false],
])('%s keeps the connection private: %s', (url, isPrivate) => {
  expect(isSecureQueueUrl(url)).toBe(isPrivate);
});
