import { createYesNoPrompter } from '../../fleet/cli/confirm.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { SubcommandInput } from '../args/subcommands.ts';
import { detectInstallation } from '../installation/detect-installation.ts';
import { planUninstall, runUninstall, type UninstallPlan } from '../installation/uninstall.ts';
import type { ProcessIo } from '../process-io.ts';

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
