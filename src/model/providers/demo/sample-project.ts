import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import { isSampleProject } from '../../is-sample-project.ts';

/** Writes the sample project of the demo. One of its tests fails until a line is corrected. */
export async function writeSampleProject(dir: string): Promise<void> {
  const { DEMO_PROJECT_FILES } = await import('./sample-project-files.ts');
  for (const [path, content] of Object.entries(DEMO_PROJECT_FILES)) {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

/** Creates a sample project in a temporary folder and returns its path. */
async function createSampleProject(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'ouro-demo-')));
  await writeSampleProject(dir);
  return dir;
}

/** Moves a run into a sample project, which needs no trust prompt because it contains only the sample files. */
export async function moveToSampleProject(run: CliRunOptions): Promise<CliRunOptions> {
  const cwd = isSampleProject(run.cwd) ? run.cwd : await createSampleProject();
  return { effort: 'medium', ...run, cwd, model: 'demo', trust: 'this-run' };
}

/** Adds a sample project as an additional directory of a demo run that keeps its working directory. */
export async function addSampleProject(run: CliRunOptions): Promise<CliRunOptions> {
  const isDemo = run.model === 'demo' && run.demoProject === undefined;
  if (!isDemo || run.session.kind !== 'new' || isSampleProject(run.cwd)) return run;
  const folder = await createSampleProject();
  return { effort: 'medium', ...run, demoProject: { folder }, addDirs: [...run.addDirs, folder] };
}
