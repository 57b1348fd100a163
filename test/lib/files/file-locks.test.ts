import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileLocks, deleteStaleFileLocks, FileStaysLocked } from '../../../src/lib/files/file-locks.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let folder = '';
let ouroHome = '';
let file = '';
const holders = new Set<Holder>();

beforeEach(async () => {
  folder = createTempFolder();
  ouroHome = createTempFolder();
  file = join(folder, 'a.txt');
  await writeFile(file, 'text');
});

afterEach(async () => {
  for (const { child } of holders) child.kill('SIGKILL');
  await Promise.all([...holders].map(({ ended }) => ended));
  holders.clear();
});

const MODULE = join(import.meta.dirname, '../../../src/lib/files/file-locks.ts');
const HOLD = `
  const [file, home, temporary] = process.argv.slice(-3);
  const { createFileLocks } = await import(${JSON.stringify(MODULE)});
  const release = await createFileLocks(home, { temporary }).hold([file]);
  process.stdout.write('held');
  process.stdin.once('data', async () => { await release(); process.exit(0); });
`;

type Holder = Awaited<ReturnType<typeof startHolder>>;

/** Starts another process that holds the lock of a file until it is told to go on. */
async function startHolder(path = file) {
  const child = spawn(process.execPath, ['--no-env-file', '-e', HOLD, path, ouroHome, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const holder = { child, ended: once(child, 'exit'), release: () => child.stdin.write('\n') };
  holders.add(holder);
  await once(child.stdout, 'data');
  return holder;
}

/** Tries to lock a file for a moment. */
const isFree = (path = file) =>
  createFileLocks(ouroHome, { waitMs: 0, temporary: folder })
    .run([path], async () => 'free')
    .catch((thrown: unknown) => {
      if (thrown instanceof FileStaysLocked) return 'locked';
      throw thrown;
    });

test('a lock lies in the home folder of ouro alone, and is gone once it is released', async () => {
  const seen = await createFileLocks(ouroHome).run([file], async () => ({
    beside: await readdir(folder),
    locks: (await readdir(join(ouroHome, 'locks'))).length,
  }));
  expect(seen).toEqual({ beside: ['a.txt'], locks: 1 });
  expect(await readdir(join(ouroHome, 'locks'))).toEqual([]);
});

test('a file waits for the process that holds it', async () => {
  const holder = await startHolder();
  expect(await isFree()).toBe('locked');
  expect(await isFree(join(folder, 'other.txt'))).toBe('free');
  let isReleased = false;
  const done = createFileLocks(ouroHome).run([file], async () => isReleased);
  expect(await isFree()).toBe('locked');
  isReleased = true;
  holder.release();
  expect(await done).toBe(true);
  expect(await isFree()).toBe('free');
});

test('the lock of a process that was killed is free at once', async () => {
  const { child, ended } = await startHolder();
  child.kill('SIGKILL');
  await ended;
  expect(await isFree()).toBe('free');
});

test('a stopped process keeps its lock, and its number is told', async () => {
  const holder = await startHolder();
  const { child, ended } = holder;
  child.kill('SIGSTOP');
  await expect(createFileLocks(ouroHome, { waitMs: 50 }).run([file], async () => undefined)).rejects.toThrow(
    `${file} is still being changed by another ouro process (PID ${child.pid}) after 0.05 s. Continue that process if it is suspended`,
  );
  child.kill('SIGCONT');
  holder.release();
  await ended;
  expect(await isFree()).toBe('free');
});

test('an abort ends the wait', async () => {
  await startHolder();
  const abort = new AbortController();
  const waiting = createFileLocks(ouroHome).run([file], async () => undefined, abort.signal);
  abort.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
});

test('all names of a file share its lock', async () => {
  await symlink(file, join(folder, 'link'));
  await symlink(folder, join(folder, 'self'));
  await startHolder();
  expect(await isFree(join(folder, 'link'))).toBe('locked');
  expect(await isFree(join(folder, 'self', 'a.txt'))).toBe('locked');
});

test('hard links share a lock, also when another name of the file is in use', async () => {
  await link(file, join(folder, 'hard'));
  await startHolder(join(folder, 'hard'));
  expect(await isFree()).toBe('locked');
});

test('a file that does not exist yet is locked by its path', async () => {
  await startHolder(join(folder, 'new', 'b.txt'));
  expect(await isFree(join(folder, 'new', 'b.txt'))).toBe('locked');
});

test('files are locked together, whatever their order', async () => {
  const others = ['b', 'c', 'd'].map((name) => join(folder, name));
  let running = 0;
  const work = async () => {
    running += 1;
    await readdir(folder);
    running -= 1;
    return running;
  };
  const runs = Array.from({ length: 6 }, (_, at) =>
    createFileLocks(ouroHome).run(at % 2 === 0 ? [file, ...others] : [...others, file], work),
  );
  expect(await Promise.all(runs)).toEqual([0, 0, 0, 0, 0, 0]);
});

test('a link that leads elsewhere once it is locked is locked again', async () => {
  const [path, other] = [join(folder, 'link'), join(folder, 'other.txt')];
  await writeFile(other, 'other');
  await symlink(file, path);
  const holder = await startHolder();
  const inside = createFileLocks(ouroHome).run([path], () => isFree(other));
  expect(await isFree()).toBe('locked');
  await symlink(other, `${path}.next`);
  await rename(`${path}.next`, path);
  holder.release();
  expect(await inside).toBe('locked');
});

test('work on held files does not wait', async () => {
  const locks = createFileLocks(ouroHome, { waitMs: 0 });
  const release = await locks.hold([file]);
  expect(await locks.run([file], async () => 'run')).toBe('run');
  expect(await isFree()).toBe('locked');
  await release();
  expect(await isFree()).toBe('free');
});

test('work that fails releases its lock', async () => {
  const failing = createFileLocks(ouroHome).run([file], async () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(await isFree()).toBe('free');
});

test('where the home folder cannot be written, a temporary folder has the locks', async () => {
  ouroHome = join(file, 'no-folder');
  await startHolder();
  expect(await isFree()).toBe('locked');
});

test('the temporary folder is gone once it has no more locks', async () => {
  const locks = createFileLocks(join(file, 'no-folder'), { temporary: folder });
  expect(await locks.run([file], async () => (await readdir(folder)).length)).toBe(2);
  expect(await readdir(folder)).toEqual(['a.txt']);
});

test('where no lock can be written, work runs without', async () => {
  const locks = createFileLocks(join(file, 'no-folder'), { temporary: file });
  expect(await locks.run([file], async () => 'run')).toBe('run');
});

test('old locks of killed processes are deleted, those of running ones stay', async () => {
  const { child, ended } = await startHolder();
  const locks = join(ouroHome, 'locks');
  child.kill('SIGKILL');
  await ended;
  const [dead = ''] = await readdir(locks);
  await startHolder(join(folder, 'b.txt'));
  const names = await readdir(locks);
  await mkdir(join(locks, 'folder'));
  await writeFile(join(locks, `${dead}.0123`), '');
  const text = await readFile(join(locks, dead), 'utf8');
  await deleteStaleFileLocks(ouroHome, Date.now());
  expect(await readFile(join(locks, dead), 'utf8')).toBe(text);
  for (const name of await readdir(locks)) await utimes(join(locks, name), 1, 1);
  await deleteStaleFileLocks(ouroHome, Date.now());
  expect((await readdir(locks)).toSorted()).toEqual([...names.filter((name) => name !== dead), 'folder'].toSorted());
});
