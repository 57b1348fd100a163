import { randomUUID } from 'node:crypto';
import type { Invocation } from '../args/invocation.ts';
import { UsageError } from '../args/usage-error.ts';
import type { Io } from '../io.ts';
import type { Shutdown } from '../shutdown.ts';
import { neverBegan } from '../wire/result.ts';
import { printOnce } from './print.ts';
import { readPrompt } from './read-prompt.ts';
import { answerForNobody } from './unattended.ts';
import { understand } from './understand.ts';

/** `ouro -p`: from the arguments to the exit code. */
export async function runPrint(invocation: Invocation, io: Io, shutdown: Shutdown): Promise<number> {
  const { run, output } = invocation;
  if (run.session.kind === 'resume' && run.session.wanted === '') {
    throw new UsageError('--resume needs the id or title of a session when there is no terminal to choose one in.');
  }
  // Loading the program and waiting for stdin have nothing to do with each other.
  const composing = import('../../app/compose.ts');
  const prompt = await readPrompt(invocation.prompt, io);
  if (prompt === undefined) throw new UsageError(emptyPrompt(invocation));
  const { createConversation } = await composing;
  const composed = await createConversation(run, io.environment);
  if (!composed.ok) {
    io.stderr.write(`${composed.problem}\n`);
    if (output.format !== 'text') io.stdout.write(`${JSON.stringify(neverBegan(composed.problem, randomUUID))}\n`);
    return 1;
  }
  const { conversation } = composed;
  shutdown.guard(conversation);
  io.stdout.onClosed(() => shutdown.begin('shutdown'));
  if (run.permissionPrompt === undefined) answerForNobody(conversation.agent, 'declined');
  else (await import('./prompt-tool.ts')).answerByTool(conversation, run.permissionPrompt, 'declined');
  const code = await printOnce(conversation, await understand(conversation, prompt), output, {
    write: io.stdout.write,
    warn: (text) => io.stderr.write(`${text}\n`),
    newId: randomUUID,
    now: Date.now,
    answerSchema: run.jsonSchema,
    abortedBy: shutdown.reason,
    ending: shutdown.begun,
    ...(output.format === 'text' && io.stdout.isTty ? { live: await liveText(io) } : {}),
  });
  return shutdown.reason() === 'shutdown' ? 0 : code;
}

async function liveText(io: Io) {
  const { createLiveText } = await import('./print-tty.ts');
  return createLiveText(io.environment.term, io.stdout.columns(), io.stdout.paint);
}

/** A list flag takes every word behind it; that is the usual way to lose a prompt. */
function emptyPrompt({ run }: Invocation): string {
  const lists = [...(run.allowedTools ?? []), ...(run.disallowedTools ?? []), ...(run.tools ?? [])];
  const hint = lists.length === 0 ? '' : ' A list flag takes all words behind it: put the prompt first, or after --.';
  return `There is no prompt. Usage: ouro -p "your question", or pipe it in.${hint}`;
}
