import { findKeyPlace, login } from '../../app/start/login.ts';
import { readHiddenLine } from '../../ui/keys/hidden-line.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import type { Io } from '../io.ts';

const MOST_CHARS = 10_000;

/** `ouro login [place]`: stores a key, asked for where nobody sees it or read from a pipe. */
export async function run({ words: [name = 'anthropic', ...more], io }: CommandRequest): Promise<number> {
  if (more.length > 0)
    throw new UsageError(
      'Say: ouro login [place]. A key is never an argument, which everybody could see: it is asked for, or comes through a pipe.',
    );
  const answer = await findKeyPlace(name, io);
  if (!answer.ok) {
    io.stderr.write(`${answer.problem}\n`);
    return 1;
  }
  const key = await keyFrom(io, `Key of ${answer.place.label} (it is not shown): `);
  if (key === undefined) {
    io.stderr.write('Nothing was stored.\n');
    return 130;
  }
  const { ok, words } = await login(answer.place, key, io.environment);
  if (ok) io.stdout.write(`${words}\n`);
  else io.stderr.write(`${words}\n`);
  return ok ? 0 : 1;
}

async function keyFrom({ stdin, stderr }: Io, label: string): Promise<string | undefined> {
  if (stdin.keys !== undefined) return readHiddenLine(stdin.keys(), stderr.write, label);
  const decoder = new TextDecoder();
  let text = '';
  if (stdin.kind !== 'none')
    for await (const chunk of stdin.chunks())
      text += text.length > MOST_CHARS ? '' : decoder.decode(chunk, { stream: true });
  return text;
}
