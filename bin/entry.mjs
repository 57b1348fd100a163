import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What to start: a build when there is one that nothing was edited after, its executable before its bundle, else the
 * sources. bin/ouro decides alike.
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
  const files = ['src', ...inside('src'), 'docs', ...inside('docs'), 'package.json', 'package-lock.json'];
  return files.some((file) => statSync(join(root, file)).mtimeMs > sinceMs);
}

/** Makes the build that starts faster. It can do without, so a failure is only told. */
export function build(root, bun, flags) {
  const { status, stderr } = spawnSync(bun, [...flags, join(root, 'bin', 'build.mjs'), '--binary'], {
    encoding: 'utf8',
  });
  if (status !== 0) process.stderr.write(`ouro: the build failed, so it will start more slowly. ${stderr}\n`);
}
