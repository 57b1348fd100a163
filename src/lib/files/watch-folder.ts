import { watch } from 'node:fs';

/** Editors write a file in several steps. */
const DEBOUNCE_MS = 50;

/**
 * Watches a folder, or one file in it, which editors replace when saving. Changes are debounced; a missing folder is
 * not watched. Returns a function that stops watching.
 */
export function watchFolder(folder: string, onChange: () => void, file?: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (file !== undefined && name !== null && name !== file) return;
      clearTimeout(timer);
      timer = setTimeout(onChange, DEBOUNCE_MS);
    });
    // The folder was removed.
    watcher.on('error', () => watcher.close());
    return () => {
      clearTimeout(timer);
      watcher.close();
    };
  } catch {
    return () => undefined;
  }
}
