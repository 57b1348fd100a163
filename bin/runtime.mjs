import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the first runtime that works here: a CPU without AVX2 needs -baseline, Alpine needs -musl. */
export function findRuntime(root) {
  const program = process.platform === 'win32' ? 'bun.exe' : 'bun';
  const files = packageNames(process.platform, process.arch)
    // In the program's node_modules, or hoisted by npm next to the scope of its name.
    .flatMap((name) => [join(root, 'node_modules', '@oven', name), join(root, '..', '..', '@oven', name)])
    .map((folder) => join(folder, 'bin', program));
  const found = files.find((file) => existsSync(file) && spawnSync(file, ['--version']).status === 0);
  if (found !== undefined) return found;
  throw new Error(
    `No runtime for ${process.platform} on ${process.arch} could be started. ` +
      'Run "npm ci --include=optional" in the folder of ouro and look for an @oven/bun package that is missing.',
  );
}

/** Returns the packages to try for a machine, best first. */
export function packageNames(platform, arch) {
  const system = platform === 'win32' ? 'windows' : platform;
  const base = `bun-${system}-${arch === 'arm64' ? 'aarch64' : arch}`;
  return ['', '-baseline', '-musl', '-musl-baseline'].map((variant) => base + variant);
}
