import { randomUUID } from 'node:crypto';
import type { Invocation } from '../../args/invocation.ts';
import { UsageError } from '../../args/usage-error.ts';
import type { ProcessIo } from '../../process-io.ts';
import type { Shutdown } from '../../shutdown.ts';
import { createStartFailure } from '../../stream-json/run-result.ts';
import { resolveUserInput } from '../resolve-user-input.ts';
import { denyUnattendedRequests } from '../unattended-answers.ts';
import { runAndPrintPrompt } from './run-and-print-prompt.ts';

/** Runs print mode (`ouro -p`) and returns the exit code. */
export async function runPrint(invocation: Invocation, io: ProcessIo, shutdown: Shutdown): Promise<number> {
  const { run, output } = invocation;
  if (run.session.kind === 'resume' && run.session.wanted === '') {
    throw new UsageError('--resume needs the id or title of a session: print mode cannot show the session list.');
  }
  // The module loads while stdin is read.
  const composing = import('../../../app/compose.ts');
  const prompt = await readPromptFromArgsAndStdin(invocation.prompt, io);
  if (prompt === undefined) throw new UsageError(formatMissingPrompt(invocation));
  const { createConversation } = await composing;
  const composed = await createConversation(run, io.environment);
  if (!composed.ok) {
    io.stderr.write(`${composed.problem}\n`);
    if (output.format !== 'text')
      io.stdout.write(`${JSON.stringify(createStartFailure(composed.problem, randomUUID))}\n`);
    return 1;
  }
  const { conversation } = composed;
  shutdown.attach(conversation);
  io.stdout.onClosed(() => shutdown.start('shutdown'));
  if (run.permissionPrompt === undefined) denyUnattendedRequests(conversation.agent, 'declined');
  else (await import('../permission-responses.ts')).answerWithMcpTool(conversation, run.permissionPrompt, 'declined');
  const code = await runAndPrintPrompt(conversation, await resolveUserInput(conversation, prompt), output, {
    write: io.stdout.write,
    warn: (text) => io.stderr.write(`${text}\n`),
    newId: randomUUID,
    now: Date.now,
    answerSchema: run.jsonSchema,
    abortedBy: shutdown.reason,
    ending: shutdown.started,
    ...(output.format === 'text' && io.stdout.isTty ? { live: await loadLiveText(io) } : {}),
  });
  return shutdown.reason() === 'shutdown' ? 0 : code;
}

async function loadLiveText(io: ProcessIo) {
  const { createLiveReplyOutput } = await import('./live-reply-output.ts');
  return createLiveReplyOutput(io.environment.term, io.stdout.columns(), io.stdout.writePrintable);
}

/** Usually a list flag before the prompt has taken it as another value. */
function formatMissingPrompt({ run }: Invocation): string {
  const lists = [...(run.allowedTools ?? []), ...(run.disallowedTools ?? []), ...(run.tools ?? [])];
  const hint =
    lists.length === 0 ? '' : ' A list flag takes all following arguments: put the prompt first, or after --.';
  return `No prompt given. Usage: ouro -p "your question", or pipe it in.${hint}`;
}

const STDIN_TIMEOUT_MS = 3_000;

/** Returns the prompt from the command line followed by stdin, `undefined` when both are empty. */
export async function readPromptFromArgsAndStdin(
  argument: string | undefined,
  io: Pick<ProcessIo, 'stdin' | 'stderr'>,
  timeoutMs: number = STDIN_TIMEOUT_MS,
): Promise<string | undefined> {
  const piped = io.stdin.isTty || io.stdin.kind === 'none' ? '' : await readStdin(argument, io, timeoutMs);
  const parts = [argument ?? '', piped].filter((part) => part.trim() !== '');
  return parts.length === 0 ? undefined : parts.join('\n');
}

async function readStdin(
  argument: string | undefined,
  io: Pick<ProcessIo, 'stdin' | 'stderr'>,
  timeoutMs: number,
): Promise<string> {
  const stdin = readAll(io);
  // An open but silent pipe must not block a prompt that is already complete.
  if (argument === undefined || io.stdin.kind === 'file') return stdin.text;
  const { promise: timeout, resolve } = Promise.withResolvers<'timeout'>();
  const timer = setTimeout(() => resolve('timeout'), timeoutMs);
  const first = await Promise.race([stdin.started, timeout]);
  clearTimeout(timer);
  if (first !== 'timeout') return stdin.text;
  io.stderr.write(
    'No input on stdin, using the prompt argument only. Redirect stdin from /dev/null to skip the wait.\n',
  );
  return '';
}

function readAll(io: Pick<ProcessIo, 'stdin'>): { readonly started: Promise<void>; readonly text: Promise<string> } {
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const text = (async () => {
    const decoder = new TextDecoder();
    const parts: string[] = [];
    try {
      for await (const chunk of io.stdin.chunks()) {
        parts.push(decoder.decode(chunk, { stream: true }));
        resolve();
      }
    } catch {
      // A closed or unreadable stdin counts as empty.
    }
    resolve();
    return [...parts, decoder.decode()].join('');
  })();
  return { started, text };
}
