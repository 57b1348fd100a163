import { examine, formatFindings } from '../../app/start/doctor.ts';
import { checkModels } from '../../app/start/models.ts';
import { printed } from '../../lib/printable.ts';
import type { CommandRequest } from '../args/subcommands.ts';

/** `ouro doctor`: what ouro depends on, and how it stands. Exit code 1 when something is bad. */
export async function run({ flags, io }: CommandRequest): Promise<number> {
  const { environment, cwd } = io;
  const looked = await examine({ cwd, isTty: io.stdout.isTty, environment });
  const findings = flags.live === true ? [...looked, ...(await checkModels(io))] : looked;
  const colors = io.stdout.isTty && !environment.term.noColor ? 'colored' : 'plain';
  if (flags.json === true) io.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
  else io.stdout.paint(printed`${formatFindings(findings, colors)}\n`);
  return findings.some(({ state }) => state === 'bad') ? 1 : 0;
}
