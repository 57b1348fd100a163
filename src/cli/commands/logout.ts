import { findKeyPlace, logout } from '../../app/start/login.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';

/** `ouro logout [place]`: forgets a stored key. */
export async function run({ words: [name = 'anthropic', ...more], io }: CommandRequest): Promise<number> {
  if (more.length > 0) throw new UsageError('Say: ouro logout [place].');
  const answer = await findKeyPlace(name, io);
  // The settings may have lost a place whose key is still there.
  const { ok, words } = await logout(answer.ok ? answer.place : { name, label: name }, io.environment);
  if (ok) io.stdout.write(`${words}\n`);
  else io.stderr.write(`${answer.ok ? words : answer.problem}\n`);
  return ok ? 0 : 1;
}
