import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** In an executable of ours the sources have no place on the disk. */
const isExecutable = /\/(?:\$bunfs|~BUN)\//.test(import.meta.url);

/**
 * A file of a library that npm put beside the program, by its path in node_modules. It is looked for from where the
 * program lies upwards, never from where it was started, and an executable could not find it by its name.
 */
export function installedFile(path: string): string {
  const program = isExecutable ? process.execPath : fileURLToPath(import.meta.url);
  for (let folder = dirname(program); ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', path);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) throw Object.assign(new Error(`${path} is not installed`), { code: 'ENOENT' });
  }
}

/** The ripgrep that npm brought; throws ENOENT when there is none for this machine. */
export function bundledRipgrep(): string {
  const { platform, arch } = process;
  return installedFile(`@vscode/ripgrep-${platform}-${arch}/bin/${platform === 'win32' ? 'rg.exe' : 'rg'}`);
}
