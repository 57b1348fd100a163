import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The file to run: a build when there is one that nothing was edited after, else the sources. bin/ouro decides alike. */
export function entryOf(root) {
  const source = join(root, 'src', 'cli', 'main.ts');
  const built = join(root, 'dist', 'main.js');
  if (!existsSync(join(root, 'package-lock.json'))) return existsSync(built) ? built : source;
  const stamp = join(root, 'dist', '.stamp');
  return existsSync(stamp) && !isAnythingNewer(root, statSync(stamp).mtimeMs) ? built : source;
}

function isAnythingNewer(root, sinceMs) {
  const inside = (folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name));
  const files = ['src', ...inside('src'), 'docs', ...inside('docs'), 'package.json', 'package-lock.json'];
  return files.some((file) => statSync(join(root, file)).mtimeMs > sinceMs);
}

/** Makes the build that starts faster. Without it the sources run, so a failure is only told. */
export function build(root, bun, flags) {
  const { status, stderr } = spawnSync(bun, [...flags, join(root, 'bin', 'build.mjs')], { encoding: 'utf8' });
  if (status !== 0) process.stderr.write(`ouro: the build failed, so the sources are run as they are. ${stderr}\n`);
}
