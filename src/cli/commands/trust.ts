import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { trustFolder, trustList, trustRevoke, trustShow } from '../../app/settings/trust-commands.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';

/** `ouro trust`: which folders may bring settings, hooks and servers of their own. */
export async function run({ words: [folder, ...more], flags, io }: CommandRequest): Promise<number> {
  if (more.length > 0) throw new UsageError('Name one folder: ouro trust [dir].');
  const { environment } = io;
  const say = (lines: readonly string[]) =>
    io.stdout.write(lines.map((line) => `${sanitize(line, 'line')}\n`).join(''));
  if (flags.list === true) {
    say(await trustList(environment));
    return 0;
  }
  const wanted = resolve(io.cwd, folder ?? '.');
  const dir = await realpath(wanted).catch(() => undefined);
  // A folder that is gone can still be revoked by its name.
  if (flags.revoke === true) return report(await trustRevoke(dir ?? wanted, environment));
  if (dir === undefined) throw new UsageError(`There is no folder ${wanted}.`);
  if (flags.show === true) {
    say(await trustShow(dir, environment));
    return 0;
  }
  return report(await trustFolder(dir, flags.below === true ? 'below' : 'folder', environment));

  function report(outcome: { readonly ok: boolean; readonly lines: readonly string[] }): number {
    if (outcome.ok) say(outcome.lines);
    else io.stderr.write(outcome.lines.map((line) => `${sanitize(line, 'line')}\n`).join(''));
    return outcome.ok ? 0 : 1;
  }
}
