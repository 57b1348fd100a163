import { removeProviderKey, resolveKeyProvider } from '../../app/setup/provider-keys.ts';
import type { SubcommandInput } from '../args/subcommands.ts';

/** Runs `ouro logout [provider]`: deletes a stored key. */
export async function runLogoutCommand({ args: [name = 'anthropic'], io }: SubcommandInput): Promise<number> {
  const answer = await resolveKeyProvider(name, io);
  // A provider removed from the settings may still have a stored key.
  const outcome = await removeProviderKey(answer.ok ? answer.provider : { name, label: name }, io.environment);
  if (outcome.ok) io.stdout.write(`${outcome.message}\n`);
  else io.stderr.write(`${answer.ok ? outcome.message : answer.problem}\n`);
  return outcome.ok ? 0 : 1;
}
