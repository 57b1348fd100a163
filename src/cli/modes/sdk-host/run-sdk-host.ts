import { randomUUID } from 'node:crypto';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { Invocation, OutputOptions } from '../../args/invocation.ts';
import { getSignalExitCode } from '../../exit-code.ts';
import type { ProcessIo } from '../../process-io.ts';
import { readNonBlankLines } from '../../read-non-blank-lines.ts';
import type { Shutdown } from '../../shutdown.ts';
import { denyUnattendedRequests } from '../unattended-answers.ts';
import { createControlRequestSender } from './control-request-sender.ts';
import { createControlServer } from './control-server.ts';
import { createHostConversation } from './host-conversation.ts';
import { relayQuestionsToHost } from './host-questions.ts';
import type { OpenedConversation } from './lazy-conversation.ts';

/** Serves an SDK host over stdin and stdout until stdin ends; returns the exit code. */
export async function runSdkHost(invocation: Invocation, io: ProcessIo, shutdown: Shutdown): Promise<number> {
  const write = (line: JsonObject) => io.stdout.write(`${JSON.stringify(line)}\n`);
  const warn = (text: string) => io.stderr.write(`${text}\n`);
  const outgoing = createControlRequestSender(write, randomUUID);

  async function open(options: CliRunOptions): Promise<OpenedConversation> {
    const { createConversation } = await import('../../../app/compose.ts');
    const composed = await createConversation(options, io.environment);
    if (!composed.ok) return composed;
    const { conversation } = composed;
    shutdown.attach(conversation);
    await answerQuestions(conversation, options.permissionPrompt);
    for (const warning of conversation.info().warnings) warn(warning);
    const output: OutputOptions =
      options.host?.getsSubAgentText === false ? { ...invocation.output, subAgentText: 'omitted' } : invocation.output;
    const hostConversation = createHostConversation(conversation, output, {
      write,
      newId: randomUUID,
      now: Date.now,
      suggestsPrompts: options.promptSuggestions === true,
      isEnding: () => shutdown.reason() !== undefined,
      ...(options.jsonSchema === undefined ? {} : { answerSchema: options.jsonSchema }),
    });
    return { ok: true, conversation, hostConversation };
  }

  async function answerQuestions(conversation: Conversation, promptTool: string | undefined): Promise<void> {
    relayQuestionsToHost(conversation, outgoing, promptTool === 'stdio' ? 'everything' : 'elicitations only');
    if (promptTool === undefined) denyUnattendedRequests(conversation.agent, 'left');
    else if (promptTool !== 'stdio')
      (await import('../permission-responses.ts')).answerWithMcpTool(conversation, promptTool, 'left');
  }

  const server = createControlServer(invocation.run, {
    open,
    outgoing,
    write,
    warn,
    pid: process.pid,
    awaitsInitialize: invocation.awaitsInitialize,
  });
  io.stdout.onClosed(() => shutdown.start('shutdown'));
  const { promise: stdinEnded, resolve: onStdinEnd } = Promise.withResolvers<void>();
  // A detached process keeps serving while its stdin is open, so a lost parent alone is no reason to exit.
  io.onOrphaned(() => void stdinEnded.then(() => shutdown.start('shutdown')));
  const lines = withEndListener(readNonBlankLines(io.stdin.chunks()), onStdinEnd);
  const outcome = await Promise.race([server.serve(lines), shutdown.started]);
  if (typeof outcome === 'number') return outcome === 0 && !server.hasSucceeded() ? 1 : outcome;
  await server.waitForIdle();
  return outcome === 'shutdown' ? 0 : getSignalExitCode(outcome);
}

async function* withEndListener<Line>(lines: AsyncIterable<Line>, onEnd: () => void): AsyncGenerator<Line, void> {
  try {
    yield* lines;
  } finally {
    onEnd();
  }
}
