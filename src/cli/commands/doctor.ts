import { access, constants } from 'node:fs/promises';
import { examine, formatFindings } from '../../app/doctor.ts';
import { readSettings } from '../../app/read-settings.ts';
import type { CommandRequest } from '../command-request.ts';

/** `ouro doctor`: what ouro depends on, and how it stands. Exit code 1 when something is bad. */
export async function run({ flags, io }: CommandRequest): Promise<number> {
  const { environment, cwd } = io;
  const findings = await examine({
    environment,
    cwd,
    runtime: process.versions.bun === undefined ? `Node ${process.version}` : `Bun ${process.versions.bun}`,
    terminal: { isTty: io.stdout.isTty, columns: process.stdout.columns, rows: process.stdout.rows },
    findRipgrep,
    async checkSettings() {
      const { problems } = await readSettings({ cwd }, environment, false);
      return problems.map(({ file, line, text }) => `${file}${line === undefined ? '' : `:${line}`} ${text}`);
    },
  });
  const colors = io.stdout.isTty && !environment.term.noColor ? 'colored' : 'plain';
  io.stdout.write(`${flags.json === true ? JSON.stringify(findings, null, 2) : formatFindings(findings, colors)}\n`);
  return findings.some(({ state }) => state === 'bad') ? 1 : 0;
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
