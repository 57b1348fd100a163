import type { CommandRequest } from '../args/command-request.ts';
import { UsageError } from '../args/usage-error.ts';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { manPage } from '../completion/man.ts';
import { zshScript } from '../completion/zsh.ts';

const SCRIPTS: Readonly<Record<string, () => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  man: manPage,
};

/** `ouro completion <shell>`: a script made from the same table as the parser. */
export async function run({ words: [shell], io }: CommandRequest): Promise<number> {
  const script = SCRIPTS[shell ?? ''];
  if (script === undefined) throw new UsageError('Name a shell: ouro completion bash, zsh or fish. Or man.');
  io.stdout.write(script());
  return 0;
}
