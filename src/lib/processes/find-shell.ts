import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { memoizeByKey } from '../memoize.ts';
import { getProcessStartTime } from './process-info.ts';
import { CALL_PROCESS_MARKER, createProcessMarkerCommand } from './process-markers.ts';
import { killProcessTree } from './process-tree.ts';
import type { ProgramCheck, ProgramUse } from './program-check.ts';
import { createFailedResult, type ProgramResult, type RunProgramOptions, runProgram } from './run-program.ts';

type Variables = Readonly<Record<string, string | undefined>>;
type Machine = { readonly platform: string; readonly exists: (file: string) => boolean };

const THIS_MACHINE: Machine = { platform: process.platform, exists: existsSync };

/** Flags that keep the shells from reading the startup files of the user. */
const FLAGS = { bash: ['--noprofile', '--norc', '-c'], sh: ['-c'] } as const;

/**
 * Returns the path of a shell, `undefined` if it is not installed. On Windows it is the one of Git for Windows: `bash` on
 * the PATH may be the one of WSL, which has other files. Elsewhere it is in /bin, except on NixOS and BSD.
 */
export function findShell(
  name: 'bash' | 'sh',
  variables: Variables,
  { platform, exists }: Machine = THIS_MACHINE,
): string | undefined {
  if (platform !== 'win32') {
    const onPath = (variables.PATH ?? '').split(':').filter(posix.isAbsolute);
    return ['/bin', ...onPath].map((folder) => posix.join(folder, name)).find(exists);
  }
  return listGitFolders(variables)
    .map((folder) => win32.join(folder, 'bin', `${name}.exe`))
    .find(exists);
}

/**
 * Returns the environment for a shell. Variables often name a locale that is not installed, for example after an `ssh`
 * from another machine. Programs then use the locale C, but bash, perl and others first print a warning, which would be
 * read as output of the command. Such a name is replaced by that of the locale that is used.
 */
export function createShellEnvironment<Env extends Variables>(env: Env): Env {
  const bash = findShell('bash', env);
  if (bash === undefined) return env;
  const names = env.LC_ALL ? ['LC_ALL'] : Object.keys(env).filter((name) => /^(?:LANG|LC_\w+)$/.test(name));
  const missing = names.filter((name) => !isInstalledLocale(JSON.stringify([bash, name, env[name]])));
  return Object.assign({}, env, Object.fromEntries(missing.map((name) => [name, 'C'])));
}

/** Returns whether bash can set a variable to a locale. It takes any value for `LANG`, which stands for all the others. */
const isInstalledLocale = memoizeByKey((assignment) => {
  const [bash, name, locale]: readonly string[] = JSON.parse(assignment);
  if (bash === undefined || /^(?:|C|POSIX|C\.utf-?8)$/i.test(locale ?? '')) return true;
  const script = `${name === 'LANG' ? 'LC_ALL' : name}=$1`;
  return spawnSync(bash, [...FLAGS.bash, script, 'bash', locale ?? ''], { env: {} }).stderr?.length === 0;
});

/** Returns the advice for machines without a shell. */
export function describeMissingShell(platform: string = process.platform): string {
  return platform === 'win32'
    ? 'Commands need Git Bash. Install Git for Windows (https://git-scm.com), or set OURO_GIT_FOLDER to its folder.'
    : 'Commands need bash, which is neither in /bin nor in a folder of PATH. Install it with the package manager.';
}

/** Lists the folders where Git for Windows may be: those it installs itself to, and the one whose git is on the PATH. */
function listGitFolders(variables: Variables): readonly string[] {
  // The names of variables have any case on Windows, but this copy of them is an ordinary object.
  const byName = new Map(Object.entries(variables).map(([name, value]) => [name.toUpperCase(), value]));
  const below = (name: string, ...path: readonly string[]) => {
    const folder = byName.get(name);
    return folder === undefined || folder === '' ? [] : [win32.join(folder, ...path)];
  };
  const onPath = (byName.get('PATH') ?? '').split(';').filter((folder) => /[\\/](?:cmd|bin)[\\/]?$/i.test(folder));
  return [
    ...below('OURO_GIT_FOLDER'),
    ...below('PROGRAMFILES', 'Git'),
    ...below('PROGRAMFILES(X86)', 'Git'),
    ...below('LOCALAPPDATA', 'Programs', 'Git'),
    ...below('USERPROFILE', 'scoop', 'apps', 'git', 'current'),
    ...onPath.filter((folder) => win32.isAbsolute(folder)).map((folder) => win32.dirname(folder)),
  ];
}

/** The check that every line passes, and how it uses the workspace. */
type ProgramGate = { readonly check: ProgramCheck; readonly use: ProgramUse };

/**
 * Runs a command line in a shell. When it exits, all its processes are killed, including background processes and those
 * that detached, cleared their environment or changed their name.
 */
export async function runShellCommand(
  shell: keyof typeof FLAGS,
  line: string,
  options: RunProgramOptions & Required<Pick<RunProgramOptions, 'env'>> & ProgramGate,
): Promise<ProgramResult> {
  const marker = randomUUID();
  const env = { ...createShellEnvironment(options.env), [CALL_PROCESS_MARKER]: marker };
  const file = findShell(shell, env);
  if (file === undefined) {
    return createFailedResult(describeMissingShell());
  }
  const { check, use, ...given } = options;
  const { cwd = process.cwd() } = given;
  const checked = await check({ command: { line }, cwd, variables: env }, use);
  if (!checked.ok) return createFailedResult(checked.problem);
  const [program = file, ...args] = checked.wrap([file, ...FLAGS[shell], createProcessMarkerCommand(env) + line]);
  let cleanup: Promise<void> | undefined;
  const end = await runProgram(program, args, { ...given, env }, (groupId) => {
    const startTime = getProcessStartTime(groupId) ?? '';
    return () => {
      cleanup = killProcessTree({ groupId, marker, startTime }, () => true);
    };
  });
  await cleanup;
  checked.sandbox?.ended();
  return end;
}
