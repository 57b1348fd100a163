import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMcpCredentialStore } from '../../../src/mcp/auth/mcp-credentials.ts';
import { createTempProject } from '../../support/temp-project.ts';

const tokens = { access_token: 'x', token_type: 'Bearer' };

test('a damaged credentials file is set aside, and logout removes one login', async () => {
  await using project = await createTempProject();
  const store = openMcpCredentialStore(project.home);
  await writeFile(join(project.home, 'mcp-logins.json'), '{ half');
  expect(await store.get('http://a')).toBeUndefined();
  expect(await store.getProblem()).toContain('is damaged');
  await store.save('http://a', { tokens });
  expect(await store.get('http://a')).toMatchObject({ tokens: { access_token: 'x' } });
  expect([await store.remove('http://a'), await store.remove('http://a')]).toEqual([true, false]);
  expect(await readFile(join(project.home, 'mcp-logins.json'), 'utf8')).toBe('{}\n');
  const [kept = ''] = await readdir(join(project.home, 'set-aside'));
  expect(await readFile(join(project.home, 'set-aside', kept), 'utf8')).toBe('{ half');
});

test('one damaged login does not affect the others', async () => {
  await using project = await createTempProject();
  const file = join(project.ouroHome, 'mcp-logins.json');
  await mkdir(project.ouroHome);
  await writeFile(file, JSON.stringify({ 'http://a': { tokens, later: 1 }, 'http://b': { tokens: 'x' } }));
  const store = openMcpCredentialStore(project.ouroHome);
  expect(await store.get('http://a')).toEqual({ tokens });
  expect(await store.get('http://b')).toBeUndefined();
  await store.save('http://c', { tokens });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    'http://a': { tokens, later: 1 },
    'http://c': { tokens },
  });
});
