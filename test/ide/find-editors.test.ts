import { chmod, chown, mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFindEditorsOptions, findEditors } from '../../src/ide/find-editors.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const search = (project: TempProject, variables: Readonly<Record<string, string>> = {}) =>
  createFindEditorsOptions(variables, { home: project.home, cwd: project.dir });

async function writeLock(project: TempProject, port: number | string, changes: object = {}): Promise<string> {
  const folder = join(project.home, '.claude/ide');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${port}.lock`);
  const lock = { pid: process.pid, workspaceFolders: [project.dir], ideName: 'Vim', transport: 'ws', authToken: 't' };
  await writeFile(file, JSON.stringify({ ...lock, ...changes }), { mode: 0o600 });
  return file;
}

/** A process id that no process has: above the largest one of Linux. */
const NO_PID = 2 ** 22 + 1;

test('without a folder of lock files nothing is found', async () => {
  await using project = await createTempProject();
  expect(await findEditors(search(project))).toEqual({ editors: [], rejected: [] });
});

test('the editor with the deepest folder around this one comes first, then the newest, then those of other folders', async () => {
  await using project = await createTempProject();
  await writeLock(project, 4001, { workspaceFolders: ['/'] });
  await utimes(await writeLock(project, 4002), 1, 1);
  await writeLock(project, 4003);
  await writeLock(project, 4004, { workspaceFolders: [`${project.dir}-other`, '/nowhere'] });
  const { editors, rejected } = await findEditors(search(project));
  expect(editors.map(({ port, mismatch }) => [port, mismatch])).toEqual([
    [4003, undefined],
    [4002, undefined],
    [4001, undefined],
    [4004, 'it has another folder open'],
  ]);
  expect(rejected).toEqual([]);
});

test('the port of the terminal comes first, whatever folder is open there', async () => {
  await using project = await createTempProject();
  await writeLock(project, 4001);
  await writeLock(project, 4002, { workspaceFolders: ['/nowhere'] });
  const { editors } = await findEditors(search(project, { CLAUDE_CODE_SSE_PORT: '4002' }));
  expect(editors.map(({ port, mismatch }) => [port, mismatch])).toEqual([
    [4002, undefined],
    [4001, undefined],
  ]);
});

test('CLAUDE_CONFIG_DIR moves the folder of lock files', async () => {
  await using project = await createTempProject();
  await writeLock(project, 4001);
  await rename(join(project.home, '.claude'), join(project.home, 'config'));
  const moved = search(project, { CLAUDE_CONFIG_DIR: join(project.home, 'config') });
  expect((await findEditors(moved)).editors).toHaveLength(1);
});

test('a stale, foreign, writable or broken lock file is not used, and says why', async () => {
  await using project = await createTempProject();
  await writeLock(project, 4001, { pid: NO_PID });
  await chmod(await writeLock(project, 4002), 0o620);
  await chmod(await writeLock(project, 4003), 0o602);
  await writeLock(project, 4004, { authToken: 'a\r\nhost: evil' });
  await writeLock(project, 4005, { transport: 'sse' });
  await writeLock(project, 'four');
  await writeLock(project, 70_000);
  await writeFile(join(project.home, '.claude/ide/4006.lock'), '{', { mode: 0o600 });
  await symlink(await writeLock(project, 'target'), join(project.home, '.claude/ide/4007.lock'));
  const { editors, rejected } = await findEditors(search(project));
  expect(editors).toEqual([]);
  expect(rejected.map(({ file, reason }) => `${file.slice(-10)}: ${reason}`).toSorted()).toEqual([
    '/4001.lock: its editor (process 4194305) has ended',
    '/4002.lock: other users can change it',
    '/4003.lock: other users can change it',
    '/4004.lock: it is not a lock file of an editor (authToken)',
    '/4005.lock: it is not a lock file of an editor (transport)',
    expect.stringMatching(/^\/4006\.lock: .*JSON/),
    expect.stringMatching(/^\/4007\.lock: .*ELOOP/),
    '/four.lock: its name is not a port',
    '70000.lock: its name is not a port',
    'arget.lock: its name is not a port',
  ]);
});

test.skipIf(process.getuid?.() !== 0)('a lock file of another user is not used', async () => {
  await using project = await createTempProject();
  await chown(await writeLock(project, 4001), 1234, 1234);
  const { editors, rejected } = await findEditors(search(project));
  expect({ editors, reasons: rejected.map(({ reason }) => reason) }).toEqual({
    editors: [],
    reasons: ['it belongs to another user'],
  });
});

test('the name of an editor cannot control the terminal', async () => {
  await using project = await createTempProject();
  await writeLock(project, 4001, { ideName: '\u001b[31mEvil\n<system>' });
  expect((await findEditors(search(project))).editors[0]?.name).toBe('Evil &lt;system>');
});
