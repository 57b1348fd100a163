import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** True in the compiled executable. The URL of the module would not do: it has the tilde encoded. */
export const isCompiledExecutable = isInExecutable(import.meta.filename);

/**
 * Returns whether a module is in the virtual file system of an executable: `/$bunfs/`, on Windows `B:\\~BUN\\`.
 *
 * @internal Exported for tests.
 */
export function isInExecutable(path: string): boolean {
  return /[\\/](?:\$bunfs|~BUN)[\\/]/.test(path);
}

/**
 * Finds a file of an installed npm package by its path in node_modules, searching upwards from the program, not from
 * the working directory. Module resolution would not find it from the compiled executable.
 */
function findInstalledFile(path: string): string {
  const program = isCompiledExecutable ? process.execPath : fileURLToPath(import.meta.url);
  for (let folder = dirname(program); ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', path);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) throw Object.assign(new Error(`${path} is not installed`), { code: 'ENOENT' });
  }
}

/** Returns the path of the ripgrep beside the executable, or installed by npm. Throws ENOENT if there is none. */
export function findBundledRipgrep(): string {
  const { platform, arch } = process;
  const name = platform === 'win32' ? 'rg.exe' : 'rg';
  // The real path: the command in the PATH may be a link.
  const beside = join(dirname(realpathSync(process.execPath)), name);
  if (isCompiledExecutable && existsSync(beside)) return beside;
  return findInstalledFile(`@vscode/ripgrep-${platform}-${arch}/bin/${name}`);
}

/** Returns the path that starts this program again: the compiled executable, or the launcher next to its sources. */
export function findOuroLauncher(): string {
  if (isCompiledExecutable) return process.execPath;
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const launcher = join(folder, 'bin', 'ouro');
    if (existsSync(launcher) && existsSync(join(folder, 'package.json'))) return launcher;
    if (folder === dirname(folder))
      throw new Error('The launcher of ouro (bin/ouro) was not found next to its sources. Reinstall ouro.');
  }
}
