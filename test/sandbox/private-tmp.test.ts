import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPrivateTmp } from '../../src/sandbox/private-tmp.ts';
import { createTestReadOnlySandbox } from '../support/read-only-sandbox.ts';
import { NO_SANDBOX } from '../support/sandbox.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { createTempProject } from '../support/temp-project.ts';

test('a folder that holds too much is emptied before the next command, which says so once', async () => {
  const tmp = createPrivateTmp(Date.now, { parent: createTempFolder(), maxBytes: 100_000 });
  const folder = tmp.getFolder();
  await mkdir(join(folder, 'deep'));
  await writeFile(join(folder, 'deep/a'), 'x'.repeat(60_000));
  await tmp.measure();
  expect([await readdir(tmp.getFolder()), tmp.takeNotes()]).toEqual([['deep'], []]);
  await writeFile(join(folder, 'b'), 'x'.repeat(60_000));
  await tmp.measure();
  expect(await readdir(tmp.getFolder())).toEqual([]);
  expect(tmp.takeNotes()).toEqual([expect.stringContaining('was emptied before this command')]);
  expect(tmp.takeNotes()).toEqual([]);
  // A cleaner of temporary folders may come while a session runs.
  tmp.close();
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(tmp.getFolder())).toBe(true);
});

test('folders of killed sessions are deleted after a day, those of others are not', async () => {
  const parent = createTempFolder();
  const ended = spawn('true');
  await new Promise((resolve) => ended.on('exit', resolve));
  const make = async (name: string, hoursAgo: number) => {
    const path = join(parent, name);
    await mkdir(join(path, 'tmp/locked'), { recursive: true });
    await writeFile(join(path, 'tmp/locked/x'), '');
    const at = (Date.now() - hoursAgo * 3_600_000) / 1_000;
    await utimes(path, at, at);
  };
  await make(`ouro-tmp-${ended.pid}-old`, 30);
  await make(`ouro-tmp-${ended.pid}-new`, 1);
  await make(`ouro-tmp-${process.pid}-mine`, 30);
  await make('ouro-tmp-notes', 30);
  const tmp = createPrivateTmp(Date.now, { parent });
  tmp.getFolder();
  await expect.poll(() => existsSync(join(parent, `ouro-tmp-${ended.pid}-old`))).toBe(false);
  tmp.close();
  expect((await readdir(parent)).toSorted()).toEqual(
    [`ouro-tmp-${ended.pid}-new`, `ouro-tmp-${process.pid}-mine`, 'ouro-tmp-notes'].toSorted(),
  );
});

test.skipIf(NO_SANDBOX !== undefined)(
  'one command reads what another left in /tmp, and the host does not',
  async () => {
    await using project = await createTempProject({}, '/var/tmp');
    const { run } = createTestReadOnlySandbox(project);
    expect(await run('mkdir -p /tmp/a && echo kept > /tmp/a/b && ln -s /etc/hostname /tmp/link')).toMatchObject({
      code: 0,
    });
    expect(await run('cat /tmp/a/b; ls /tmp; echo $TMPDIR')).toMatchObject({ printed: 'kept\na\nlink\n/tmp\n' });
    expect(existsSync('/tmp/a/b')).toBe(false);
    const other = createTestReadOnlySandbox(project);
    expect(await other.run('ls -A /tmp')).toMatchObject({ printed: '' });
  },
);
