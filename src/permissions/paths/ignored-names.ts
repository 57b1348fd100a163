import { basename, dirname, join } from 'node:path';
import { scanFolder, segmentTest } from './folder-scan.ts';
import type { PermissionFs } from './fs.ts';
import { isInside } from './paths.ts';

/** Files whose lines leave names out of a search, and bring others back. */
const FILES = ['.gitignore', '.ignore', '.rgignore'];

/** Whether some file of ignored names, in a searched folder or above it, could bring a hidden name back (`!.env`). */
export function shownNames(fs: PermissionFs, folder: string, roots: readonly string[]): (name: string) => boolean {
  const found: string[] = [];
  const whole = scanFolder(fs, folder, ({ path, kind }) => {
    if (kind !== 'directory' && FILES.includes(basename(path))) found.push(path);
    return false;
  });
  if (whole === 'too many') return () => true;
  const root = roots.find((each) => isInside(folder, each)) ?? folder;
  for (let above = folder; isInside(above, root); above = dirname(above)) {
    found.push(...FILES.map((name) => join(above, name)), join(above, '.git/info/exclude'));
    if (above === dirname(above)) break;
  }
  const back = found.flatMap((file) => linesOf(fs, file).filter((line) => /^\s*!/.test(line)));
  const names = back
    .flatMap((line) =>
      line
        .trim()
        .slice(1)
        .replace(/^(?:\*\*\/)+/, '')
        .split('/'),
    )
    .filter((name) => name !== '');
  const shown = names.map((name) => (name.includes('\\') ? () => true : segmentTest(name.trim())));
  return (name) => shown.some((fits) => fits(name));
}

function linesOf(fs: PermissionFs, file: string): readonly string[] {
  const kind = fs.lstat(file)?.kind;
  if (kind === undefined) return [];
  // What a link leads to may say anything.
  return kind === 'file' ? (fs.readFile(file) ?? '').split('\n') : ['!*'];
}
