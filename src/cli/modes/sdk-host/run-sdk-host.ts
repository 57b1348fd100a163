import { randomUUID } from 'node:crypto';
import { type NumberedLine, type ProcessIo, readNonBlankLines } from '../../../command/process-io.ts';
import type { Shutdown } from '../../../command/shutdown.ts';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import { getErrorMessage } from '../../../lib/errors.ts';
import type { CliInvocation, OutputOptions } from '../../args/invocation.ts';
import { createStartFailureResult } from '../../stream-json/run-result.ts';
import { denyUnattendedRequests } from '../unattended-answers.ts';
import { createControlRequestSender } from './control-request-sender.ts';
import { createHostConversation } from './host-conversation.ts';
import { relayQuestionsToHost } from './host-questions.ts';
import { type ControlDispatcherDeps, createControlDispatcher } from './incoming-requests.ts';
import { type HostInputLine, type HostUserLine, type ParsedHostInputLine, parseHostInputLine } from './input-lines.ts';
import { createLazyConversation, type OpenedConversation } from './lazy-conversation.ts';

/** Serves an SDK host over stdin and stdout until stdin ends; returns the exit code. */
export async function runSdkHost(invocation: CliInvocation, io: ProcessIo, shutdown: Shutdown): Promise<number> {
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
  io.stdout.onFailed(() => shutdown.start('shutdown'));
  const { promise: stdinEnded, resolve: onStdinEnd } = Promise.withResolvers<void>();
  // A detached process keeps serving while its stdin is open, so a lost parent alone is not a reason to exit.
  io.onOrphaned(() => void stdinEnded.then(() => shutdown.start('shutdown')));
  const lines = withEndListener(readNonBlankLines(io.stdin.chunks()), onStdinEnd);
  const outcome = await Promise.race([server.serve(lines), shutdown.started]);
  if (typeof outcome === 'number') return outcome === 0 ? server.getExitCode() : outcome;
  await server.waitForIdle();
  return 0;
}

async function* withEndListener<Line>(lines: AsyncIterable<Line>, onEnd: () => void): AsyncGenerator<Line, void> {
  try {
    yield* lines;
  } finally {
    onEnd();
  }
}

type BadLine = Extract<ParsedHostInputLine, { ok: false }>;

/** The connection to the host, and the way to open its conversation. */
type ControlServerDeps = ControlDispatcherDeps & {
  /** Opens the conversation; called once, by the first line that needs it. */
  readonly open: (options: CliRunOptions) => Promise<OpenedConversation>;
};

const KEEP_ALIVE_MS = 1_500;

/** Creates the ouro side of the SDK control protocol. */
export function createControlServer(options: CliRunOptions, deps: ControlServerDeps) {
  const { outgoing, write, warn } = deps;
  const lazyConversation = createLazyConversation(deps.open, warn);
  const requests = createControlDispatcher(options, lazyConversation, deps);
  /** Control requests and user lines take effect in order; responses to requests of ouro are handled immediately. */
  let tail: Promise<void> = Promise.resolve();
  const enqueue = (action: () => Promise<void> | void) => {
    tail = tail.then(action);
  };

  function handleLine(line: HostInputLine | { readonly type: 'other' }): void {
    switch (line.type) {
      case 'control_response':
        outgoing.handleResponse(line.response);
        return;
      case 'control_request':
        // The only request that must not wait for earlier ones.
        if (line.request.subtype === 'interrupt') requests.interrupt(line, enqueue);
        else enqueue(() => requests.handle(line));
        return;
      case 'user':
        enqueue(() => handleUserLine(line));
        return;
      default:
    }
  }

  async function handleUserLine(line: HostUserLine): Promise<void> {
    const refusal = requests.refusal();
    if (refusal !== undefined) return write(createStartFailureResult(refusal, randomUUID));
    try {
      await (await lazyConversation.open(options)).hostConversation.handleUserLine(line);
    } catch (thrown) {
      // The host waits for a result after every user message.
      if (lazyConversation.hasFailed()) write(createStartFailureResult(getErrorMessage(thrown), randomUUID));
      else warn(getErrorMessage(thrown));
    }
  }

  function handleBadLine(number: number, { problem, lineType, requestId }: BadLine): void {
    const error = `Line ${number} ${problem}`;
    if (requestId !== undefined) {
      requests.respondError(requestId, error);
      return;
    }
    const line = { type: 'system', subtype: 'input_error', line: number, error };
    // Written after the lines before it; an open conversation adds its session id.
    enqueue(async () => {
      // An invalid user message gets a result too, which needs a conversation. A failure to open it is reported there.
      if (lineType === 'user') await lazyConversation.open(options).catch(() => undefined);
      const hostConversation = lazyConversation.getHostConversation();
      if (hostConversation === undefined) write(line);
      else hostConversation.writeLine(line);
      if (lineType === 'user') await hostConversation?.rejectMessage(error);
    });
  }

  async function waitForIdle(): Promise<void> {
    await tail;
    await lazyConversation.getHostConversation()?.waitForIdle();
  }

  return {
    /** Handles all lines and returns the exit code. */
    async serve(lines: AsyncIterable<NumberedLine>): Promise<number> {
      const reading = readAll(lines, handleLine, handleBadLine, warn);
      // Without a conversation there is nothing to wait for, even if stdin stays open.
      const code = await Promise.race([reading, lazyConversation.failed.then(() => 1)]);
      outgoing.close();
      // Only a failed write shows that the reader is gone, so something is written regularly.
      const timer = setInterval(() => write({ type: 'keep_alive' }), KEEP_ALIVE_MS);
      await waitForIdle().finally(() => clearInterval(timer));
      return lazyConversation.hasFailed() ? 1 : code;
    },
    getExitCode: (): number => lazyConversation.getHostConversation()?.getExitCode() ?? 0,
    waitForIdle,
  };
}

/** Reads to the end. The exit code is 1 after a read error, or when the first line shows that stdin is not a host. */
async function readAll(
  lines: AsyncIterable<NumberedLine>,
  onLine: (line: HostInputLine | { readonly type: 'other' }) => void,
  onBadLine: (number: number, line: BadLine) => void,
  warn: (text: string) => void,
): Promise<number> {
  try {
    for await (const { number, text } of lines) {
      const parsed = parseHostInputLine(text);
      if (parsed.ok) {
        onLine(parsed.line);
        continue;
      }
      warn(`Line ${number} of stdin ${parsed.problem}`);
      if (number === 1 && parsed.lineType === undefined) return 1;
      onBadLine(number, parsed);
    }
    return 0;
  } catch (thrown) {
    warn(`Reading stdin failed: ${getErrorMessage(thrown)}`);
    return 1;
  }
}
