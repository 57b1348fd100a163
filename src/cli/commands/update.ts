import type { SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { detectInstallation } from '../installation/detect-installation.ts';
import { updateInstallation } from '../installation/update.ts';

/** A version as in the names of releases; also with the v of a tag. */
const VERSION = /^v?(\d+\.\d+\.\d+(?:[-+][\w.+-]+)?)$/;

/** Runs `ouro update [version]`: replaces the program, says whether it could be, or returns to the version before. */
export async function runUpdateCommand({ args: [wanted], flags, io }: SubcommandInput): Promise<number> {
  const version = wanted === undefined ? undefined : VERSION.exec(wanted)?.[1];
  if (wanted !== undefined && version === undefined)
    throw new UsageError(`${wanted} is not a version. Usage: ouro update [version], for example ouro update 1.2.3`);
  if (flags.back === true && (version !== undefined || flags.check === true))
    throw new UsageError('--back returns to the version before; it takes neither a version nor --check.');
  const action = flags.back === true ? 'back' : flags.check === true ? 'check' : 'update';
  try {
    const message = await updateInstallation(detectInstallation(), { action, version }, io.environment);
    io.stdout.write(`${sanitize(message, 'output')}\n`);
    return 0;
  } catch (thrown) {
    io.stderr.write(`${sanitize(getErrorMessage(thrown), 'output')}\n`);
    return 1;
  }
}
