import { existsSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createTempProject } from '../support/temp-project.ts';

test('temporary files of killed runs are deleted by the next start, and no others', async () => {
  await using project = await createTempProject();
  await using server = await startApiServer({ turns: () => says('Fine.') });
  const draft = '.0123456789abcdef01.tmp';
  const old = [
    draft,
    `auth/${draft}`,
    `projects/-a/${draft}`,
    'projects/-a/answers/b.json.tmp',
    'projects/-a/drafts/b.json.tmp',
  ];
  const kept = ['notes.tmp', 'skills/mine/a.tmp', 'projects/-a/b.json', 'projects/-a/answers/new.json.tmp'];
  const pathOf = (name: string) => join(project.ouroHome, name);
  for (const name of [...old, ...kept]) {
    await mkdir(dirname(pathOf(name)), { recursive: true });
    await writeFile(pathOf(name), '{}');
    const minutes = name.includes('new') ? 0 : 5;
    const at = new Date(Date.now() - minutes * 60_000);
    await utimes(pathOf(name), at, at);
  }
  const { close } = await composed(project, server.url);
  await expect.poll(() => old.filter((name) => existsSync(pathOf(name)))).toEqual([]);
  expect(kept.filter((name) => !existsSync(pathOf(name)))).toEqual([]);
  await close();
});
