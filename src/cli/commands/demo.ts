import { DEMO_PROMPT } from '../../contracts/face/first-run.ts';
import { readInvocation } from '../args/invocation.ts';
import type { CommandRequest } from '../args/subcommands.ts';

/** `ouro demo`: the scripted model over its sample project, on the screen or into a pipe. */
export async function run({ words, io, shutdown }: CommandRequest): Promise<number> {
  const args = ['--model', 'demo', ...(words.length === 0 ? [] : ['--', ...words])];
  const hasTerminal = io.stdin.isTty && io.stdout.isTty;
  const invocation = await readInvocation(args, { cwd: io.cwd, hasTerminal });
  if (invocation.face === 'screen') return (await import('../faces/repl.ts')).runRepl(invocation, io, shutdown);
  const prompt = invocation.prompt ?? DEMO_PROMPT;
  return (await import('../faces/run-print.ts')).runPrint({ ...invocation, prompt }, io, shutdown);
}
