import * as fs from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type AtomicWriteFs,
  type WritableFileHandle,
  WriteRefused,
  writeAtomically,
} from '../../../src/lib/files/atomic-write.ts';
import { readExtendedAttributes, setExtendedAttribute } from '../../../src/lib/files/extended-attributes.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let root = '';
beforeAll(async () => {
  root = createTempFolder();
});

const place = async () => createTempFolder(root);
const bytes = (text: string) => Buffer.from(text);

/** A disk on which the n-th call fails with `code`. */
function failingAt(n: number, code: string): AtomicWriteFs & { readonly calls: () => number } {
  let calls = 0;
  const step = async () => {
    calls += 1;
    if (calls === n) throw Object.assign(new Error(`${code}: injected`), { code });
  };
  const wrap = (handle: fs.FileHandle): WritableFileHandle => ({
    stat: () => step().then(() => handle.stat()),
    writeFile: async (data) => {
      await handle.write(data.subarray(0, 1));
      await step();
      await handle.write(data.subarray(1));
    },
    chmod: (mode) => step().then(async () => handle.chmod(mode)),
    chown: (uid, gid) => step().then(async () => handle.chown(uid, gid)),
    sync: () => step().then(async () => handle.sync()),
    close: async () => {
      await handle.close();
      await step();
    },
  });
  return {
    calls: () => calls,
    lstat: (file) => step().then(async () => fs.lstat(file)),
    readlink: (file) => step().then(async () => fs.readlink(file)),
    realpath: (file) => step().then(async () => fs.realpath(file)),
    open: (file, flags, mode) => step().then(async () => wrap(await fs.open(file, flags, mode))),
    rename: (from, to) => step().then(async () => fs.rename(from, to)),
    unlink: async (file) => fs.unlink(file),
  };
}

describe('writeAtomically', () => {
  test('a new file is created, an old one replaced with its mode kept', async () => {
    const file = path.join(await place(), 'a.sh');
    await writeAtomically(file, bytes('one'));
    await fs.chmod(file, 0o751);
    expect(await writeAtomically(file, bytes('two'))).toEqual({ path: file, method: 'replaced' });
    expect(await fs.readFile(file, 'utf8')).toBe('two');
    expect((await fs.stat(file)).mode & 0o7777).toBe(0o751);
    expect(await fs.readdir(path.dirname(file))).toEqual(['a.sh']);
  });

  test('a symlink stays and its target is written, also if it does not exist yet', async () => {
    const dir = await place();
    await fs.mkdir(path.join(dir, 'real'));
    await fs.symlink('real/target', path.join(dir, 'link'));
    await writeAtomically(path.join(dir, 'link'), bytes('x'));
    await writeAtomically(path.join(dir, 'link'), bytes('y'));
    expect(await fs.readlink(path.join(dir, 'link'))).toBe('real/target');
    expect(await fs.readFile(path.join(dir, 'real/target'), 'utf8')).toBe('y');
  });

  test('a link cycle, a directory and a device are refused', async () => {
    const dir = await place();
    await fs.symlink('b', path.join(dir, 'a'));
    await fs.symlink('a', path.join(dir, 'b'));
    await expect(writeAtomically(path.join(dir, 'a'), bytes('x'))).rejects.toBeInstanceOf(WriteRefused);
    await expect(writeAtomically(dir, bytes('x'))).rejects.toBeInstanceOf(WriteRefused);
    await expect(writeAtomically('/dev/null', bytes('x'))).rejects.toBeInstanceOf(WriteRefused);
  });

  test('a parent replaced by a symlink meanwhile is refused and no file is left', async () => {
    const dir = await place();
    await fs.mkdir(path.join(dir, 'in'));
    await fs.mkdir(path.join(dir, 'out'));
    const swapping: AtomicWriteFs = {
      ...fs,
      open: async (file, flags, mode) => {
        const handle = await fs.open(file, flags, mode);
        if (!file.endsWith('.tmp')) return handle;
        await fs.rename(path.join(dir, 'in'), path.join(dir, 'moved'));
        await fs.symlink('moved', path.join(dir, 'in'));
        return handle;
      },
    };
    await expect(writeAtomically(path.join(dir, 'in', 'f'), bytes('x'), { fs: swapping })).rejects.toThrow('replaced');
    expect(await fs.readdir(path.join(dir, 'moved'))).toEqual([]);
    expect(await fs.readdir(path.join(dir, 'out'))).toEqual([]);
  });

  test('a file changed meanwhile is kept', async () => {
    const file = path.join(await place(), 'f');
    await fs.writeFile(file, 'old');
    const racing: AtomicWriteFs = {
      ...fs,
      open: async (name, flags, mode) => {
        await fs.writeFile(file, 'theirs');
        return fs.open(name, flags, mode);
      },
    };
    await expect(writeAtomically(file, bytes('mine'), { fs: racing })).rejects.toThrow('another program');
    expect(await fs.readFile(file, 'utf8')).toBe('theirs');
    expect(await fs.readdir(path.dirname(file))).toEqual(['f']);
  });

  test.each([
    ['the file has other content', 'theirs', bytes('old'), 'was changed by another program'],
    ['the file is gone', undefined, bytes('old'), 'was deleted by another program'],
    ['there is a file where none was', 'theirs', 'no file', 'was created by another program'],
  ] as const)('nothing is written if %s', async (_, present, expected, reason) => {
    const file = path.join(await place(), 'f');
    if (present !== undefined) await fs.writeFile(file, present);
    await expect(writeAtomically(file, bytes('mine'), { expected })).rejects.toThrow(reason);
    expect(await fs.readdir(path.dirname(file))).toEqual(present === undefined ? [] : ['f']);
    if (present !== undefined) expect(await fs.readFile(file, 'utf8')).toBe(present);
  });

  test('a file with hard links is not written if it has other content', async () => {
    const file = path.join(await place(), 'f');
    await fs.writeFile(file, 'theirs');
    await fs.link(file, `${file}2`);
    await expect(writeAtomically(file, bytes('mine'), { expected: bytes('old') })).rejects.toThrow('was changed');
    expect(await fs.readFile(file, 'utf8')).toBe('theirs');
    await writeAtomically(file, bytes('mine'), { expected: bytes('theirs') });
    expect(await fs.readFile(`${file}2`, 'utf8')).toBe('mine');
  });

  test.each(['ENOSPC', 'EACCES', 'EROFS'])(
    '%s at any system call leaves the old content and no other file',
    async (code) => {
      const dir = await place();
      const file = path.join(dir, 'f');
      await fs.writeFile(file, 'old');
      const whole = failingAt(0, code);
      await writeAtomically(file, bytes('new'), { fs: whole });
      const seen = new Set<string>();
      for (let n = 1; n <= whole.calls(); n += 1) {
        await fs.writeFile(file, 'old');
        const failed = await writeAtomically(file, bytes('new'), { fs: failingAt(n, code) }).then(
          () => false,
          (thrown: unknown) => thrown instanceof Error && thrown.message.includes(code),
        );
        const content = await fs.readFile(file, 'utf8');
        seen.add(`${failed ? 'failed' : 'done'}: ${content}`);
        expect(await fs.readdir(dir)).toEqual(['f']);
      }
      // Only the last calls, which make the rename last, may fail without harm.
      expect([...seen].sort()).toEqual(['done: new', 'failed: old']);
    },
  );

  test('a file with hard links keeps them', async () => {
    const dir = await place();
    await fs.writeFile(path.join(dir, 'a'), 'a longer content');
    await fs.link(path.join(dir, 'a'), path.join(dir, 'b'));
    const written = await writeAtomically(path.join(dir, 'b'), bytes('new'), { unfinished: path.join(dir, 'notes') });
    expect(written).toEqual({ path: path.join(dir, 'b'), method: 'overwritten-to-keep-hard-links' });
    expect(await fs.readFile(path.join(dir, 'a'), 'utf8')).toBe('new');
    expect((await fs.stat(path.join(dir, 'a'))).nlink).toBe(2);
    expect(await fs.readdir(path.join(dir, 'notes'))).toEqual([]);
  });

  test.each([
    ['open', 'EACCES'],
    ['open', 'EROFS'],
    ['rename', 'EBUSY'],
    ['rename', 'EPERM'],
  ] as const)('where no new file can take its place (%s: %s) it is written in place', async (call, code) => {
    const dir = await place();
    const file = path.join(dir, 'f');
    await fs.writeFile(file, 'old');
    const { ino } = await fs.stat(file);
    const refuse = () => Promise.reject(Object.assign(new Error(code), { code }));
    const whole = failingAt(0, code);
    const refusing: AtomicWriteFs = {
      ...whole,
      open: (at, flags, mode) => (call === 'open' && at !== file ? refuse() : whole.open(at, flags, mode)),
      rename: call === 'rename' ? refuse : whole.rename,
    };
    const written = await writeAtomically(file, bytes('new'), { fs: refusing });
    expect(written).toEqual({ path: file, method: 'overwritten-as-not-replaceable' });
    expect(await fs.readFile(file, 'utf8')).toBe('new');
    expect((await fs.stat(file)).ino).toBe(ino);
    expect(await fs.readdir(dir)).toEqual(['f']);
  });

  /** The owner and one more may write, the group may read, others nothing. */
  const LIST = Buffer.from(
    '0200000001000600ffffffff02000600d204000004000400ffffffff10000600ffffffff20000000ffffffff',
    'hex',
  );

  test.skipIf(process.platform !== 'linux')(
    'defaults of a folder for new files are not applied to an existing file',
    async () => {
      const dir = await place();
      const file = path.join(dir, 'f');
      await fs.writeFile(file, 'old');
      await fs.chmod(file, 0o640);
      expect(setExtendedAttribute(dir, 'system.posix_acl_default', LIST)).toBe(true);
      await writeAtomically(file, bytes('new'));
      expect([readExtendedAttributes(file), (await fs.stat(file)).mode & 0o777]).toEqual([new Map(), 0o640]);
    },
  );

  test.skipIf(process.platform !== 'linux')(
    'access control lists and other attributes stay, and no access is added',
    async () => {
      const file = path.join(await place(), 'f');
      await fs.writeFile(file, 'old');
      await fs.chmod(file, 0o640);
      expect(setExtendedAttribute(file, 'system.posix_acl_access', LIST)).toBe(true);
      expect(setExtendedAttribute(file, 'user.note', Buffer.from('kept'))).toBe(true);
      const before = readExtendedAttributes(file);
      await writeAtomically(file, bytes('new'));
      expect(await fs.readFile(file, 'utf8')).toBe('new');
      expect(readExtendedAttributes(file)).toEqual(before);
      expect([...before.keys()].toSorted()).toEqual(['system.posix_acl_access', 'user.note']);
      expect((await fs.stat(file)).mode & 0o777).toBe(0o660);
    },
  );
});
