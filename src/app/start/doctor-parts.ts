import { access, constants } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import { bundledRipgrep } from '../../lib/processes/installed-file.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { DoctorParts } from './doctor.ts';

/** What the doctor looks at on this machine. */
export function doctorParts(
  { cwd, isTty }: { readonly cwd: string; readonly isTty: boolean },
  environment: Environment,
): DoctorParts {
  const { stdout } = process;
  return {
    environment,
    cwd,
    runtime: process.versions.bun === undefined ? `Node ${process.version}` : `Bun ${process.versions.bun}`,
    terminal: { isTty, columns: stdout.columns, rows: stdout.rows },
    async findRipgrep() {
      try {
        const path = bundledRipgrep();
        await access(path, constants.X_OK);
        return path;
      } catch {
        return undefined;
      }
    },
    async checkSettings() {
      const { problems } = await readSettings({ cwd }, environment, false);
      return problems.map(({ file, line, text }) => `${file}${line === undefined ? '' : `:${line}`} ${text}`);
    },
  };
}

/** The doctor's findings as text; it is loaded when somebody calls it. */
export async function examineHere(...given: Parameters<typeof doctorParts>): Promise<string> {
  const { examine, formatFindings } = await import('./doctor.ts');
  return formatFindings(await examine(doctorParts(...given)), 'plain');
}
