import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { programOf } from '../../bin/entry.mjs';

/** Tests that start the program start what is shipped: a build of the sources as they are, which also starts faster. */
export function setup(): void {
  const root = join(import.meta.dirname, '../..');
  if (programOf(root, process.execPath, []).file !== process.execPath) return;
  const flags = ['--no-env-file', `--config=${join(root, 'bunfig.toml')}`, join(root, 'bin/build.mjs'), '--binary'];
  const { status, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed, so nothing can be started: ${stderr}`);
}
