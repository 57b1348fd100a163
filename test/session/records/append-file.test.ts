import { expect, test } from 'vitest';
import { createAppendFile } from '../../../src/session/records/append-file.ts';
import type { AppendFs } from '../../../src/session/records/append-fs.ts';

/** A disk that counts what is open. */
function countingDisk() {
  let text = '';
  let isOpen = 0;
  const fs: AppendFs = {
    open: async () => {
      isOpen += 1;
      return {
        endsClean: true,
        write: async (more) => {
          text += more;
        },
        sync: async () => undefined,
        close: async () => {
          isOpen -= 1;
        },
      };
    },
  };
  return { fs, text: () => text, isOpen: () => isOpen };
}

test('what is told after the end is written, and leaves no file open that nobody would close', async () => {
  const disk = countingDisk();
  const file = createAppendFile('session.jsonl', disk.fs, () => undefined);
  await file.append('one\n');
  expect(disk.isOpen()).toBe(1);
  const closed = file.close();
  const late = [file.append('two\n'), closed.then(() => file.append('three\n'))];
  await Promise.all([closed, ...late]);
  expect([disk.text(), disk.isOpen()]).toEqual(['one\ntwo\nthree\n', 0]);
});
