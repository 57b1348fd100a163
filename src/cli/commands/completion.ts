import type { SubcommandInput } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import { renderBashCompletion, renderFishCompletion, renderZshCompletion } from '../completion/completion-scripts.ts';
import { renderFlagsPage, renderManPage } from '../completion/reference-pages.ts';

const RENDERERS: Readonly<Record<string, () => string>> = {
  bash: renderBashCompletion,
  zsh: renderZshCompletion,
  fish: renderFishCompletion,
  man: renderManPage,
  markdown: renderFlagsPage,
};

/** Runs `ouro completion <shell>`: prints a completion script or a reference page generated from the flag tables. */
export async function runCompletionCommand({ args: [shell], io }: SubcommandInput): Promise<number> {
  const render = RENDERERS[shell ?? ''];
  if (render === undefined) throw new UsageError('Usage: ouro completion bash, zsh, fish, man or markdown.');
  io.stdout.write(render());
  return 0;
}
