import { findProviderByName, removeProviderKey, saveProviderKey } from '../../app/setup/provider-keys.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { readHiddenLine } from '../../ui/input/read-hidden-line.ts';

const MAX_KEY_CHARS = 10_000;

/** Runs `ouro login [provider]`: stores a key, typed without echo or read from a pipe. */
export async function runLoginCommand({
  args: [name = 'anthropic', ...extraArgs],
  io,
}: SubcommandInput): Promise<number> {
  if (extraArgs.length > 0)
    throw new UsageError(
      'Usage: ouro login [provider]. Type the key when asked, or pipe it in: other users could read an argument.',
    );
  const answer = await findProviderByName(name, io);
  if (!answer.ok) {
    io.stderr.write(`${answer.problem}\n`);
    return 1;
  }
  const key = await readKey(io, `Key of ${answer.provider.label} (not shown): `);
  if (key === undefined) {
    io.stderr.write('Cancelled: no key was stored.\n');
    return 130;
  }
  const outcome = await saveProviderKey(answer.provider, key, io.environment);
  if (outcome.ok) io.stdout.write(`${outcome.message}\n`);
  else io.stderr.write(`${outcome.message}\n`);
  return outcome.ok ? 0 : 1;
}

async function readKey({ stdin, stderr }: ProcessIo, label: string): Promise<string | undefined> {
  if (stdin.keys !== undefined) return readHiddenLine(stdin.keys(), stderr.write, label);
  const decoder = new TextDecoder();
  let text = '';
  if (stdin.kind !== 'none')
    for await (const chunk of stdin.chunks())
      text += text.length > MAX_KEY_CHARS ? '' : decoder.decode(chunk, { stream: true });
  return text;
}

/** Runs `ouro logout [provider]`: deletes a stored key. */
export async function runLogoutCommand({ args: [name = 'anthropic'], io }: SubcommandInput): Promise<number> {
  const answer = await findProviderByName(name, io);
  // A provider removed from the settings may still have a stored key.
  const outcome = await removeProviderKey(answer.ok ? answer.provider : { name, label: name }, io.environment);
  if (outcome.ok) io.stdout.write(`${outcome.message}\n`);
  else io.stderr.write(`${answer.ok ? outcome.message : answer.problem}\n`);
  return outcome.ok ? 0 : 1;
}
