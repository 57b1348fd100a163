import { randomUUID } from 'node:crypto';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Invocation } from '../args/invocation.ts';
import { signalCode } from '../exit-code.ts';
import { answerForNobody } from '../faces/unattended.ts';
import type { Io } from '../io.ts';
import type { Shutdown } from '../shutdown.ts';
import { askHost } from './ask-host.ts';
import { createHost } from './host.ts';
import { createHostRun } from './host-run.ts';
import type { Opened } from './opening.ts';
import { createOutbox } from './outbox.ts';
import { readLines } from './read-lines.ts';

/** A program at the other end of stdin and stdout: stays until stdin ends, then finishes and leaves. */
export async function runHost(invocation: Invocation, io: Io, shutdown: Shutdown): Promise<number> {
  const write = (line: JsonObject) => io.stdout.write(`${JSON.stringify(line)}\n`);
  const warn = (text: string) => io.stderr.write(`${text}\n`);
  const outbox = createOutbox(write, randomUUID);

  async function open(options: RunOptions): Promise<Opened> {
    const { createConversation } = await import('../../app/compose.ts');
    const composed = await createConversation(options, io.environment);
    if (!composed.ok) return composed;
    const { conversation } = composed;
    shutdown.guard(conversation);
    await answerQuestions(conversation, options.permissionPrompt);
    for (const warning of conversation.info().warnings) warn(warning);
    const run = createHostRun(conversation, invocation.output, {
      write,
      newId: randomUUID,
      now: Date.now,
      offersNext: options.promptSuggestions === true,
      isEnding: () => shutdown.reason() !== undefined,
      ...(options.jsonSchema === undefined ? {} : { answerSchema: options.jsonSchema }),
    });
    return { ok: true, conversation, run };
  }

  async function answerQuestions(conversation: Conversation, by: string | undefined): Promise<void> {
    askHost(conversation, outbox, by === 'stdio' ? 'everything' : 'what servers want to know');
    if (by === undefined) answerForNobody(conversation.agent, 'left');
    else if (by !== 'stdio') (await import('../faces/prompt-tool.ts')).answerByTool(conversation, by, 'left');
  }

  const host = createHost(invocation.run, {
    open,
    outbox,
    write,
    warn,
    pid: process.pid,
    opening: invocation.opening,
  });
  io.stdout.onClosed(() => shutdown.begin('shutdown'));
  const { promise: saidAll, resolve: onSaidAll } = Promise.withResolvers<void>();
  // Who was left behind on purpose still hears whoever holds its stdin.
  io.onOrphaned(() => void saidAll.then(() => shutdown.begin('shutdown')));
  const code = await Promise.race([host.serve(tellingEnd(readLines(io.stdin.chunks()), onSaidAll)), shutdown.begun]);
  if (typeof code === 'number') return code === 0 && !host.endedWell() ? 1 : code;
  await host.idle();
  return code === 'shutdown' ? 0 : signalCode(code);
}

async function* tellingEnd<Line>(lines: AsyncIterable<Line>, onEnd: () => void): AsyncGenerator<Line, void> {
  try {
    yield* lines;
  } finally {
    onEnd();
  }
}
