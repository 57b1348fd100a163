import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { newMarker } from './environment.ts';
import { initRepository } from './init-repository.ts';
import { killMarkedProcesses, newestPid } from './processes.ts';
import { isWholeRun } from './runs.ts';
import { createTempFolder, removeTempFolder } from './temp-folder.ts';

/** A project and a home of its own, gone after the test. */
export type TempProject = {
  readonly dir: string;
  readonly home: string;
  readonly ouroHome: string;
  /** `NAME=value` in the environment of every process run here. */
  readonly marker: string;
  write(path: string, text: string): Promise<string>;
  read(path: string): Promise<string>;
  /** Runs git here, untouched by anybody's configuration. */
  git(...args: readonly string[]): Promise<string>;
  /** Makes a repository of it, with one commit of everything there is. */
  initGit(): Promise<void>;
  /** Kills what still runs here and deletes it all. */
  remove(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Every session that any test has recorded must come out of a replay with the same bytes. All of them only in CI: what
 * breaks that breaks the tests that are about replays, too.
 */
async function checkReplays(ouroHome: string): Promise<void> {
  if (!isWholeRun || !existsSync(join(ouroHome, 'projects'))) return;
  const { replayAll } = await import('./stored-sessions.ts');
  const { different } = await replayAll({ ouroHome });
  if (different.length > 0) throw new Error(`A replay differs: ${JSON.stringify(different)}`);
}

export async function createTempProject(
  files: Readonly<Record<string, string>> = {},
  parent?: string,
): Promise<TempProject> {
  const root = createTempFolder(parent);
  const dir = join(root, 'project');
  const home = join(root, 'home');
  await mkdir(dir);
  await mkdir(home);
  const marker = newMarker();
  const before = newestPid();
  const remove = async () => {
    await killMarkedProcesses(marker, before);
    try {
      await checkReplays(join(home, '.ouro'));
    } finally {
      await removeTempFolder(root);
    }
  };
  const project: TempProject = {
    marker,
    dir,
    home,
    ouroHome: join(home, '.ouro'),
    async write(path, text) {
      const whole = join(dir, path);
      await mkdir(dirname(whole), { recursive: true });
      await writeFile(whole, text);
      return whole;
    },
    read: (path) => readFile(join(dir, path), 'utf8'),
    async git(...args) {
      const settings = [
        'user.name=Test',
        'user.email=test@example.com',
        'init.defaultBranch=main',
        'maintenance.auto=0',
      ];
      const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
      const { stdout } = await promisify(execFile)('git', [...settings.flatMap((one) => ['-c', one]), ...args], {
        cwd: dir,
        env,
      });
      return stdout;
    },
    initGit: () => initRepository(project.git, dir),
    remove,
    [Symbol.asyncDispose]: remove,
  };
  for (const [path, text] of Object.entries(files)) await project.write(path, text);
  return project;
}
