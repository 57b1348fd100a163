import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { programOf } from '../../bin/entry.mjs';

const root = join(import.meta.dirname, '../..');

/**
 * Tests that start the program start what is shipped: a build of the sources as they are, which also starts faster. It
 * is made before the first test where one of them is to run, and for nobody else.
 */
export default class Sequence extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    if (files.some(({ moduleId }) => moduleId.includes('/test/e2e/'))) build();
    return super.sort(files);
  }
}

function build(): void {
  if (programOf(root, process.execPath, []).file !== process.execPath) return;
  const flags = ['--no-env-file', `--config=${join(root, 'bunfig.toml')}`, join(root, 'bin/build.mjs'), '--binary'];
  const { status, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed, so nothing can be started: ${stderr}`);
}
