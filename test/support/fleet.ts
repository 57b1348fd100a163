import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SeenRequest } from './api/dialect.ts';
import { type ApiTurn, calls, says, toolUse } from './api/reply.ts';
import { createTempProject, type TempProject } from './temp-project.ts';

/** A project with repositories in it: `repos/one`, `repos/two`, …, each with one commit. */
export async function projectWithRepos(
  names: readonly string[],
  files: Readonly<Record<string, string>> = { 'a.txt': 'alpha\n' },
): Promise<TempProject> {
  const project = await createTempProject();
  for (const name of names) await addRepo(project, name, files);
  return project;
}

export async function addRepo(
  project: TempProject,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(project.dir, 'repos', name);
  for (const [path, text] of Object.entries(files)) await project.write(join('repos', name, path), text);
  await project.git('-C', folder, 'init', '-q');
  await project.git('-C', folder, 'add', '-A');
  await project.git('-C', folder, 'commit', '-q', '-m', 'Start');
  return folder;
}

/** What this machine lets tasks do; a short lease, so that nobody waits half a minute for what was lost. */
export async function writePolicy(project: TempProject, policy: object = {}): Promise<void> {
  await mkdir(project.ouroHome, { recursive: true });
  await writeFile(
    join(project.ouroHome, 'worker.json'),
    JSON.stringify({ leaseSeconds: 2, freeMegabytes: 0, ...policy }),
  );
}

/** A model that writes `done.txt` and says so: two requests a task. */
export function writingModel(request: SeenRequest): ApiTurn {
  return isAfterCall(request)
    ? says('It is written.')
    : calls(toolUse('Write', { file_path: 'done.txt', content: 'done\n' }));
}

/** Has the conversation come back with the result of a call? */
export function isAfterCall({ body }: SeenRequest): boolean {
  return JSON.stringify(body.messages?.at(-1)).includes('tool_result');
}
