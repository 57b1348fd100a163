import { existsSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunOptions } from '../contracts/run-options.ts';
import type { Stage } from '../model/demo/script.ts';

/** The words the tour begins with, when nobody has said anything else. */
export const DEMO_PROMPT = 'One of the tests fails. Find out why and fix it.';

/** A fresh sample project in a temporary folder, for the demo to work on. */
export async function makeSample(): Promise<string> {
  const { writeSampleProject } = await import('../model/demo/sample-project.ts');
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'ouro-demo-')));
  await writeSampleProject(dir);
  return dir;
}

/** The demo where it can be seen best: in its own folder, which brings nothing that would have to be trusted. */
export async function inSample(run: RunOptions): Promise<RunOptions> {
  const cwd = isSample(run.cwd) ? run.cwd : await makeSample();
  return { ...run, cwd, model: 'demo', trust: 'this-run' };
}

/** Where the demo plays when the tools run in `cwd`: there, if it is its own folder, or beside it. */
export async function stageFor(cwd: string): Promise<Stage> {
  return { projectDir: isSample(cwd) ? cwd : await makeSample(), cwd };
}

export function isSample(dir: string): boolean {
  return existsSync(join(dir, 'src/cart.mjs')) && existsSync(join(dir, 'bin/receipt.mjs'));
}
