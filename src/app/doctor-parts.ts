import { access, constants } from 'node:fs/promises';
import type { RunOptions } from '../contracts/run-options.ts';
import type { DoctorParts } from './doctor.ts';
import type { Environment } from './environment.ts';
import { readSettings } from './read-settings.ts';

/** What the doctor looks at on this machine. */
function doctorParts(options: Pick<RunOptions, 'cwd'>, environment: Environment): DoctorParts {
  const { stdout } = process;
  return {
    environment,
    cwd: options.cwd,
    runtime: process.versions.bun === undefined ? `Node ${process.version}` : `Bun ${process.versions.bun}`,
    terminal: { isTty: stdout.isTTY === true, columns: stdout.columns, rows: stdout.rows },
    findRipgrep,
    async checkSettings() {
      const { problems } = await readSettings({ cwd: options.cwd }, environment, false);
      return problems.map(({ file, line, text }) => `${file}${line === undefined ? '' : `:${line}`} ${text}`);
    },
  };
}

async function findRipgrep(): Promise<string | undefined> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    await access(rgPath, constants.X_OK);
    return rgPath;
  } catch {
    return undefined;
  }
}

/** The doctor's findings as text; it is loaded when somebody calls it. */
export async function examineHere(...given: Parameters<typeof doctorParts>): Promise<string> {
  const { examine, formatFindings } = await import('./doctor.ts');
  return formatFindings(await examine(doctorParts(...given)), 'plain');
}
