import { formatDoctorFindings, runDoctorChecks } from '../../app/setup/doctor.ts';
import { checkProviderConnections } from '../../app/setup/manage-models.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import { printable } from '../../lib/printable.ts';

/** Runs `ouro doctor`: prints the checks of the installation; the exit code is 1 when one failed. */
export async function runDoctorCommand({ flags, io }: SubcommandInput): Promise<number> {
  const { environment, cwd } = io;
  const localFindings = await runDoctorChecks({ cwd, isTty: io.stdout.isTty, environment });
  const findings = flags.live === true ? [...localFindings, ...(await checkProviderConnections(io))] : localFindings;
  const colors = io.stdout.isTty && !environment.term.isColorDisabled ? 'colored' : 'plain';
  if (flags.json === true) io.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
  else io.stdout.writePrintable(printable`${formatDoctorFindings(findings, colors)}\n`);
  return findings.some(({ state }) => state === 'bad') ? 1 : 0;
}
