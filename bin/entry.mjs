import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/**
 * Returns the program to start: the executable or the bundle of a build that is newer than every source, else the
 * sources. bin/ouro decides the same way.
 */
export function programOf(root, bun, flags) {
  const source = join(root, 'src', 'cli', 'main.ts');
  const bundle = join(root, 'dist', 'main.js');
  const executable = join(root, 'dist', process.platform === 'win32' ? 'ouro.exe' : 'ouro');
  const run = (file) => ({ file: bun, args: [...flags, file] });
  if (!existsSync(join(root, 'package-lock.json'))) return run(existsSync(bundle) ? bundle : source);
  const stamp = join(root, 'dist', '.stamp');
  if (!existsSync(stamp) || isAnythingNewer(root, statSync(stamp).mtimeMs)) return run(source);
  return existsSync(executable) ? { file: executable, args: [] } : run(bundle);
}

function isAnythingNewer(root, sinceMs) {
  const inside = (folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name));
  const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'src'));
  const folders = ['src', 'docs', ...packages.filter((folder) => existsSync(join(root, folder)))];
  const files = [...folders, ...folders.flatMap(inside), 'package.json', 'package-lock.json'];
  return files.some((file) => statSync(join(root, file)).mtimeMs > sinceMs);
}

/** Creates the build, which starts faster. ouro works without it, so a failure is only reported. */
export async function build(root, bun, flags) {
  const child = spawn(bun, [...flags, join(root, 'bin', 'build.mjs'), '--binary'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = () => child.kill('SIGKILL');
  process.on('exit', stop);
  const [status, errors] = await Promise.all([
    new Promise((resolve) => child.on('error', resolve).on('close', resolve)),
    text(child.stderr),
  ]);
  process.off('exit', stop);
  if (status !== 0) process.stderr.write(`ouro: the build failed, so it will start more slowly. ${errors}\n`);
}
