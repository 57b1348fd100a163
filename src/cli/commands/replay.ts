import { resolve } from 'node:path';
import { createStoredSessionOperations, getPathIfFile } from '../../app/replay/session-archive.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

/** Runs `ouro replay <session|file>`: compares rebuilt requests with the recorded ones; exits with 1 if they differ. */
export async function runReplayCommand({ args, flags, io }: SubcommandInput): Promise<number> {
  const [target] = args;
  if (target === undefined) throw new UsageError('Usage: ouro replay <session | capsule file>');
  const archive = createStoredSessionOperations(io.environment, io.cwd);
  let path = await getPathIfFile(resolve(io.cwd, target));
  if (path === undefined) {
    const match = await archive.find(args.join(' '));
    if (!match.ok) {
      io.stderr.write(`${sanitize(match.problem, 'line')}\n`);
      return 1;
    }
    path = match.session.path;
  }
  const replay = await archive.replay(path);
  const { requests, difference, runs, driven, notDriven } = replay;
  if (flags.json === true) io.stdout.write(`${JSON.stringify(replay, null, 2)}\n`);
  else if (difference === undefined) {
    const notReplayed =
      driven === runs
        ? ''
        : ` of ${runs}; for the others only requests were rebuilt: ${[...new Set(notDriven)].join(', ')}`;
    io.stdout.write(
      `${formatCount(requests, 'request')} identical; the loop took the same steps in ${formatCount(driven, 'run')}${notReplayed}.\n`,
    );
  } else {
    const { request, where, now } = difference;
    io.stdout.write(`Request ${request} differs from its record in ${where}.\nNow: ${sanitize(now, 'prompt')}\n`);
  }
  return difference === undefined ? 0 : 1;
}
