import { watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ThemesPort } from '../contracts/face/screen-settings.ts';
import { ifThere } from '../lib/files/errno.ts';

const MOST_FILES = 50;
const MOST_CHARS = 20_000;
/** An editor writes a file in several steps. */
const SETTLED_MS = 50;

/** The themes a person keeps in a folder, one a file. */
export function createThemeFiles(folder: string): ThemesPort {
  return {
    async read() {
      const names = (await ifThere(readdir(folder))) ?? [];
      const files = names.filter((name) => name.endsWith('.json')).toSorted();
      return Promise.all(
        files.slice(0, MOST_FILES).map(async (file) => {
          const path = join(folder, file);
          const text = ((await ifThere(readFile(path, 'utf8'))) ?? '').slice(0, MOST_CHARS);
          return { name: basename(file, '.json'), path, text };
        }),
      );
    },
    watch(changed) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      try {
        const watcher = watch(folder, { persistent: false }, () => {
          clearTimeout(timer);
          timer = setTimeout(changed, SETTLED_MS);
        });
        watcher.on('error', () => watcher.close());
        return () => {
          clearTimeout(timer);
          watcher.close();
        };
      } catch {
        return () => undefined; // There is no such folder, so nothing in it can change.
      }
    },
  };
}
