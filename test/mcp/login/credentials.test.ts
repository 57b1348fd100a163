import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCredentials } from '../../../src/mcp/login/credentials.ts';
import { createTempProject } from '../../support/temp-project.ts';

const tokens = { access_token: 'x', token_type: 'Bearer' };

test('a damaged file of logins costs a login and is set aside, and forgetting removes one', async () => {
  await using project = await createTempProject();
  const store = openCredentials(project.home);
  await writeFile(join(project.home, 'mcp-logins.json'), '{ half');
  expect(await store.of('http://a')).toBeUndefined();
  expect(await store.problem()).toContain('is damaged');
  await store.keep('http://a', { tokens });
  expect(await store.of('http://a')).toMatchObject({ tokens: { access_token: 'x' } });
  expect([await store.forget('http://a'), await store.forget('http://a')]).toEqual([true, false]);
  expect(await readFile(join(project.home, 'mcp-logins.json'), 'utf8')).toBe('{}\n');
  const [kept = ''] = await readdir(join(project.home, 'set-aside'));
  expect(await readFile(join(project.home, 'set-aside', kept), 'utf8')).toBe('{ half');
});

test('of one damaged login the others outlive a new one', async () => {
  await using project = await createTempProject();
  const file = join(project.ouroHome, 'mcp-logins.json');
  await mkdir(project.ouroHome);
  await writeFile(file, JSON.stringify({ 'http://a': { tokens, later: 1 }, 'http://b': { tokens: 'x' } }));
  const store = openCredentials(project.ouroHome);
  expect(await store.of('http://a')).toEqual({ tokens });
  expect(await store.of('http://b')).toBeUndefined();
  await store.keep('http://c', { tokens });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    'http://a': { tokens, later: 1 },
    'http://c': { tokens },
  });
});
