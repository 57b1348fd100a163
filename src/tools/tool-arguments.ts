import path from 'node:path';
import { toNativePath } from '../lib/files/path-style.ts';

/** Returns an absolute path: relative paths start from `cwd`, a leading `~/` is expanded. */
export function resolveToolPath(written: string, from: { readonly cwd: string; readonly home: string }): string {
  if (written === '~') return from.home;
  if (written.startsWith('~/')) return path.join(from.home, written.slice(2));
  return path.resolve(from.cwd, toNativePath(written));
}
