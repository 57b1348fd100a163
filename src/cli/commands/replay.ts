import { resolve } from 'node:path';
import { fileAt, openArchive } from '../../app/replay/session-archive.ts';
import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';

/** `ouro replay <session|file>`: does the loop ask today what it asked then? Exit code 1 when it does not. */
export async function run({ words, flags, io }: CommandRequest): Promise<number> {
  const [wanted] = words;
  if (wanted === undefined) throw new UsageError('Usage: ouro replay <session, or the file of a capsule>');
  const archive = openArchive(io.environment, io.cwd);
  let path = await fileAt(resolve(io.cwd, wanted));
  if (path === undefined) {
    const found = await archive.find(words.join(' '));
    if (!found.ok) {
      io.stderr.write(`${sanitize(found.why, 'line')}\n`);
      return 1;
    }
    path = found.session.path;
  }
  const replay = await archive.replay(path);
  const { requests, difference, runs, driven, notDriven } = replay;
  if (flags.json === true) io.stdout.write(`${JSON.stringify(replay, null, 2)}\n`);
  else if (difference === undefined) {
    const rebuilt =
      driven === runs ? '' : ` of ${runs}; the others were only rebuilt: ${[...new Set(notDriven)].join(', ')}`;
    io.stdout.write(
      `${formatCount(requests, 'request')}, every byte the same; the loop went the same way in ${formatCount(driven, 'run')}${rebuilt}.\n`,
    );
  } else {
    const { request, where, now } = difference;
    io.stdout.write(`Request ${request} differs from its record in ${where}.\nNow it is: ${sanitize(now, 'prompt')}\n`);
  }
  return difference === undefined ? 0 : 1;
}
