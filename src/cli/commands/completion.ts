import type { CommandRequest } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { manPage } from '../completion/man.ts';
import { flagsPage } from '../completion/markdown.ts';
import { zshScript } from '../completion/zsh.ts';

const SCRIPTS: Readonly<Record<string, () => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  man: manPage,
  markdown: flagsPage,
};

/** `ouro completion <shell>`: a script, or a page, made from the table that the command line is read by. */
export async function run({ words: [shell], io }: CommandRequest): Promise<number> {
  const script = SCRIPTS[shell ?? ''];
  if (script === undefined)
    throw new UsageError('Name a shell: ouro completion bash, zsh or fish. Or man, or markdown.');
  io.stdout.write(script());
  return 0;
}
