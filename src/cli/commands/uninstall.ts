import { existsSync } from 'node:fs';
import { lstat, readdir, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { getReleaseSource } from '../../app/release-source.ts';
import { createYesNoPrompter } from '../../command/confirm.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import type { Environment } from '../../contracts/environment.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { deleteStoredApiKey, readPluginSecrets, readStoredApiKeys } from '../../model/api-keys.ts';
import { detectInstallation, type Installation } from '../installation/detect-installation.ts';
import { explainUnwritable, getPreviousVersionPath, runNpm, THIRD_PARTY_NOTICES_FILE } from '../installation/update.ts';

/** Runs `ouro uninstall`: says what it removes, asks, and removes it. */
export async function runUninstallCommand({ flags, io }: SubcommandInput): Promise<number> {
  const { environment, stdout, stderr } = io;
  try {
    const plan = await planUninstall(detectInstallation(), flags.all === true ? 'all' : 'program', environment);
    stdout.write(formatPlan(plan));
    if (flags.yes !== true && !(await isConfirmed(io))) {
      stderr.write('Nothing was removed. Confirm with y, or with --yes.\n');
      return 1;
    }
    await runUninstall(plan, environment);
    stdout.write('ouro is removed.\n');
    return 0;
  } catch (thrown) {
    stderr.write(`${sanitize(getErrorMessage(thrown), 'output')}\n`);
    return 1;
  }
}

async function isConfirmed(io: ProcessIo): Promise<boolean> {
  if (!io.stdin.isTty) return false;
  const prompter = createYesNoPrompter(io);
  const isYes = await prompter.confirm('Remove this?');
  await prompter.close();
  return isYes;
}

function formatPlan({ paths, npm, kept }: UninstallPlan): string {
  const removed = [...paths, ...(npm === undefined ? [] : [`with npm ${npm.join(' ')}`])];
  const lines = [
    'Removes:',
    ...removed.map((path) => `  ${path}`),
    ...(kept.length === 0 ? [] : ['Keeps sessions and settings (remove them with --all):']),
    ...kept.map((path) => `  ${path}`),
  ];
  return lines.map((line) => `${sanitize(line, 'line')}\n`).join('');
}

/** The files that an uninstallation removes and keeps. */
type UninstallPlan = {
  /** Files and folders that are deleted. */
  readonly paths: readonly string[];
  /** A command that is run. */
  readonly npm: readonly string[] | undefined;
  /** Files and folders that stay. */
  readonly kept: readonly string[];
};

/** Plans an uninstallation. Throws for an installation that another program has to remove. */
async function planUninstall(
  installation: Installation,
  scope: 'program' | 'all',
  environment: Environment,
): Promise<UninstallPlan> {
  const data = [environment.ouroHome, environment.runtimeCache].filter(existsSync);
  const [removed, kept] = scope === 'all' ? [data, []] : [[], data];
  switch (installation.kind) {
    case 'checkout':
      throw new Error(
        `ouro runs from the checkout ${installation.root}. Run npm uninstall --global ${getReleaseSource().packageName} if it is linked, and delete the folder.`,
      );
    case 'manager':
      throw new Error(`ouro was installed with ${installation.name}. Remove it with: ${installation.uninstall}`);
    case 'npm': {
      const npm = ['uninstall', '--global', '--prefix', installation.prefix, getReleaseSource().packageName];
      return { paths: removed, npm, kept };
    }
    default:
      return { paths: [...(await listProgramFiles(installation.file, environment)), ...removed], npm: undefined, kept };
  }
}

/** Lists the executable, what an archive unpacked beside it, the versions before, and the links of the PATH to it. */
async function listProgramFiles(file: string, environment: Environment): Promise<readonly string[]> {
  const folder = dirname(file);
  const ripgrep = join(folder, file.endsWith('.exe') ? 'rg.exe' : 'rg');
  const unpacked = [
    ripgrep,
    getPreviousVersionPath(ripgrep),
    join(folder, THIRD_PARTY_NOTICES_FILE),
    join(folder, 'LICENSE'),
  ];
  const files = [
    file,
    getPreviousVersionPath(file),
    ...(existsSync(join(folder, THIRD_PARTY_NOTICES_FILE)) ? unpacked : []),
  ];
  // The installer's own folder may not be in the PATH yet.
  const folders = new Set([...environment.path, join(environment.home, '.local', 'bin')]);
  const commands = [...folders].map((entry) => join(entry, basename(file)));
  const links = await Promise.all(commands.map((path) => listLink(path, file)));
  return [...links.flat(), ...files.filter(existsSync)];
}

async function listLink(path: string, target: string): Promise<readonly string[]> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink() !== true) return [];
  return (await realpath(path).catch(() => undefined)) === target ? [path] : [];
}

/** Removes what was planned. */
async function runUninstall({ paths, npm }: UninstallPlan, environment: Environment): Promise<void> {
  // Keys in the keyring are found through a file of the folder that is deleted below.
  if (paths.includes(environment.ouroHome))
    for (const read of [readStoredApiKeys, readPluginSecrets])
      for (const name of (await read(environment)).keys.keys()) await deleteStoredApiKey(environment, name);
  if (npm !== undefined) await runNpm(npm, environment);
  for (const path of paths)
    await remove(path).catch((thrown) => {
      throw explainUnwritable(dirname(path), thrown);
    });
  // The folder of an unpacked archive; one that holds anything else stays.
  const notices = paths.find((path) => basename(path) === THIRD_PARTY_NOTICES_FILE);
  if (notices !== undefined && (await readdir(dirname(notices))).length === 0) await rmdir(dirname(notices));
}

async function remove(path: string): Promise<void> {
  // Windows does not delete a running program, but moves it; its temporary files are deleted by the system.
  if (process.platform === 'win32' && path === process.execPath)
    await rename(path, join(tmpdir(), `ouro-removed-${process.pid}.exe`));
  else await rm(path, { recursive: true, force: true });
}
