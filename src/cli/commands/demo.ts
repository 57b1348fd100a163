import type { SubcommandInput } from '../../command/subcommands.ts';
import { parseInvocation } from '../args/invocation.ts';
import { DEMO_PROMPT } from '../modes/demo-prompt.ts';

/** Runs `ouro demo`: the scripted model in its sample project, interactively or in print mode. */
export async function runDemoCommand({ args, io, shutdown }: SubcommandInput): Promise<number> {
  const demoArgs = ['--model', 'demo', ...(args.length === 0 ? [] : ['--', ...args])];
  const hasTerminal = io.stdin.isTty && io.stdout.isTty;
  const invocation = await parseInvocation(demoArgs, { cwd: io.cwd, hasTerminal });
  if (invocation.mode === 'screen')
    return (await import('../modes/interactive/run-interactive.ts')).runInteractive(invocation, io, shutdown);
  const prompt = invocation.prompt ?? DEMO_PROMPT;
  return (await import('../modes/print/run-print.ts')).runPrint({ ...invocation, prompt }, io, shutdown);
}
