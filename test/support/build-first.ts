import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { programOf } from '../../bin/entry.mjs';

const root = join(import.meta.dirname, '../..');

/** Tests that start the program start what is shipped: a build of the sources as they are, which also starts faster. */
export async function setup(project: TestProject): Promise<void> {
  const { testFiles } = await project.globTestFiles(project.vitest.filenamePattern);
  if (!testFiles.some((file) => file.startsWith(join(root, 'test/e2e/')))) return;
  if (programOf(root, process.execPath, []).file !== process.execPath) return;
  const flags = ['--no-env-file', `--config=${join(root, 'bunfig.toml')}`, join(root, 'bin/build.mjs'), '--binary'];
  const { status, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed, so nothing can be started: ${stderr}`);
}
