import path from 'node:path';

/** A path as the model wrote it, made absolute: relative to `cwd`, a leading `~/` expanded. */
export function absolutePath(written: string, from: { readonly cwd: string; readonly home: string }): string {
  if (written === '~') return from.home;
  if (written.startsWith('~/')) return path.join(from.home, written.slice(2));
  return path.resolve(from.cwd, written);
}
