import { existsSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunOptions } from '../../contracts/face/run-options.ts';

/** A fresh sample project in a temporary folder, for the demo to work on. */
async function makeSample(): Promise<string> {
  const { writeSampleProject } = await import('./sample-project.ts');
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'ouro-demo-')));
  await writeSampleProject(dir);
  return dir;
}

/** The demo where it can be seen best: in its own folder, which brings nothing that would have to be trusted. */
export async function inSampleProject(run: RunOptions): Promise<RunOptions> {
  const cwd = isSample(run.cwd) ? run.cwd : await makeSample();
  return { effort: 'medium', ...run, cwd, model: 'demo', trust: 'this-run' };
}

/** For scripts and hosts, which stay where they are: a sample project next to the working directory, open to the tools. */
export async function addSampleProject(run: RunOptions): Promise<RunOptions> {
  if (run.model !== 'demo' || run.session.kind !== 'new' || isSample(run.cwd)) return run;
  const demoProject = await makeSample();
  return { effort: 'medium', ...run, demoProject, addDirs: [...run.addDirs, demoProject] };
}

/** Is this folder the demo's own? */
export function isSample(dir: string): boolean {
  return existsSync(join(dir, 'src/cart.mjs')) && existsSync(join(dir, 'bin/receipt.mjs'));
}
