import { lchown, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { editJsonc } from '../../../src/lib/files/edit-jsonc.ts';
import { createFileLocks } from '../../../src/lib/files/file-locks.ts';
import { openJsonStore } from '../../../src/lib/files/json-store.ts';
import { writePrivateFile } from '../../../src/lib/files/private-file.ts';
import { someOf } from '../../support/runs.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let base = '';
beforeEach(async () => {
  base = createTempFolder();
});

/** Homes as people have them: where a file is reached, and where it really is. */
const HOMES: readonly (readonly [string, (at: string) => Promise<readonly [string, string]>])[] = [
  [
    'the home is a link',
    async (at) => {
      await mkdir(join(at, 'real'));
      await symlink('real', join(at, 'home'));
      return [join(at, 'home/f.json'), join(at, 'real/f.json')];
    },
  ],
  [
    'the home is a link to what is not there yet',
    async (at) => {
      await symlink(join(at, 'far/off'), join(at, 'home'));
      return [join(at, 'home/f.json'), join(at, 'far/off/f.json')];
    },
  ],
  [
    'the file is a link',
    async (at) => {
      await mkdir(join(at, 'dot'));
      await mkdir(join(at, 'home'));
      await writeFile(join(at, 'dot/f.json'), '{}');
      await symlink('../dot/f.json', join(at, 'home/f.json'));
      return [join(at, 'home/f.json'), join(at, 'dot/f.json')];
    },
  ],
  [
    'the file is a link to a link to nothing',
    async (at) => {
      await mkdir(join(at, 'home'));
      await symlink('middle', join(at, 'home/f.json'));
      await symlink('../dot/f.json', join(at, 'home/middle'));
      return [join(at, 'home/f.json'), join(at, 'dot/f.json')];
    },
  ],
];

test.each(someOf(HOMES, 2))('stored content is read back, and symlinks stay: %s', async (_, make) => {
  const [file, real] = await make(base);
  await writePrivateFile(file, '{"a":1}');
  expect(await readFile(real, 'utf8')).toBe('{"a":1}');
  const store = openJsonStore(file, { empty: {}, entryDepth: 1, parse: (json) => ({ success: true, data: json }) });
  const locks = createFileLocks(createTempFolder());
  const edit = (key: string) => editJsonc(file, () => [{ path: [key], value: 1 }], { links: 'follow', locks });
  await Promise.all(['b', 'c'].map((key) => store.change(() => [{ path: [key], value: 1 }])));
  await Promise.all(['d', 'e', 'f', 'g'].map(edit));
  expect(Object.keys(JSON.parse(await readFile(real, 'utf8'))).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  const links = [file, join(base, 'home')].filter((path) => path !== real);
  expect((await Promise.all(links.map((path) => lstat(path)))).some((entry) => entry.isSymbolicLink())).toBe(true);
  expect((await stat(real)).mode & 0o777).toBe(0o600);
  expect((await readdir(base, { recursive: true })).filter((name) => /tmp|lock/.test(name))).toEqual([]);
});

test('a link cycle is named', async () => {
  await symlink('b', join(base, 'a'));
  await symlink('a', join(base, 'b'));
  await expect(writePrivateFile(join(base, 'a'), 'x')).rejects.toThrow('is a circular symbolic link');
});

test.skipIf(process.getuid?.() !== 0)('a link of another user is not followed', async () => {
  await mkdir(join(base, 'theirs'));
  await symlink('theirs/f', join(base, 'f'));
  await lchown(join(base, 'f'), 12_345, 12_345);
  await expect(writePrivateFile(join(base, 'f'), 'x')).rejects.toThrow('symbolic link of another user');
  expect(await readdir(join(base, 'theirs'))).toEqual([]);
});
