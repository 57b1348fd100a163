import { randomUUID } from 'node:crypto';
import { getExitCode } from '../../../command/exit-code.ts';
import type { ProcessIo } from '../../../command/process-io.ts';
import type { Shutdown } from '../../../command/shutdown.ts';
import { UsageError } from '../../../command/usage-error.ts';
import type { AbortReason } from '../../../contracts/agent.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import { describeQueryEnd, type Terminal } from '../../../contracts/terminal-reason.ts';
import { formatDuration } from '../../../lib/text/format.ts';
import type { CliInvocation, OutputOptions } from '../../args/invocation.ts';
import { createStreamJsonContext, createStreamJsonWriter } from '../../stream-json/event-lines.ts';
import { createRunResultCollector, createStartFailureResult } from '../../stream-json/run-result.ts';
import { createStreamJsonInitLine } from '../../stream-json/system-lines.ts';
import { type ResolvedUserInput, runCommandOrExpandPrompt } from '../resolve-user-input.ts';
import { denyUnattendedRequests } from '../unattended-answers.ts';
import {
  type BackgroundAgents,
  requireStructuredOutput,
  trackBackgroundAgents,
  waitThroughUsageLimits,
} from '../wait-for-run-end.ts';

/** Runs print mode (`ouro -p`) and returns the exit code. */
export async function runPrint(invocation: CliInvocation, io: ProcessIo, shutdown: Shutdown): Promise<number> {
  const { run, output } = invocation;
  if (run.session.kind === 'resume' && run.session.wanted === '') {
    throw new UsageError('--resume needs the id or title of a session: print mode cannot show the session list.');
  }
  // The answer would be lost.
  if (!io.stdout.checkOpen()) return 1;
  // The module loads while stdin is read.
  const composing = import('../../../app/compose.ts');
  const prompt = await readPromptFromArgsAndStdin(invocation.prompt, io);
  if (prompt === undefined) throw new UsageError(formatMissingPrompt(invocation));
  const { createConversation } = await composing;
  const composed = await createConversation(run, io.environment);
  if (!composed.ok) {
    io.stderr.write(`${composed.problem}\n`);
    if (output.format !== 'text')
      io.stdout.write(`${JSON.stringify(createStartFailureResult(composed.problem, randomUUID))}\n`);
    return 1;
  }
  const { conversation } = composed;
  shutdown.attach(conversation);
  io.stdout.onFailed(() => shutdown.start('shutdown'));
  if (run.permissionPrompt === undefined) denyUnattendedRequests(conversation.agent, 'declined');
  else (await import('../permission-responses.ts')).answerWithMcpTool(conversation, run.permissionPrompt, 'declined');
  const code = await runAndPrintPrompt(conversation, await runCommandOrExpandPrompt(conversation, prompt), output, {
    write: io.stdout.write,
    warn: (text) => io.stderr.write(`${text}\n`),
    newId: randomUUID,
    now: Date.now,
    answerSchema: run.jsonSchema,
    abortedBy: shutdown.reason,
    ending: shutdown.started,
    ...(output.format === 'text' && io.stdout.isTty ? { live: await loadLiveText(io) } : {}),
  });
  return shutdown.reason() === 'shutdown' ? 1 : code;
}

async function loadLiveText(io: ProcessIo) {
  const { createLiveReplyOutput } = await import('./live-reply-output.ts');
  return createLiveReplyOutput(io.environment.term, io.stdout.columns(), io.stdout.writePrintable);
}

/** Usually a list flag before the prompt has taken it as another value. */
function formatMissingPrompt({ run }: CliInvocation): string {
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

/** The output and surroundings of one print run. stdout carries only the result or the stream. */
type PrintDeps = {
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly newId: () => string;
  readonly now: () => number;
  /** Streams replies on a terminal; the result is then not printed again. */
  readonly live?: { handleEvent(event: AgentEvent): void };
  /** JSON schema the answer must match. */
  readonly answerSchema: JsonObject | undefined;
  /** The reason when the run was ended from outside. */
  readonly abortedBy: () => AbortReason | undefined;
  /** Resolves when the process shuts down. */
  readonly ending: Promise<unknown>;
};

const SUB_AGENTS_ENDED_PROMPT =
  'All sub-agents in the background have ended; what they report comes with this message. Give your whole answer to what was asked now: only this last reply is read.';

/** Shorter delays end before anybody wonders why nothing happens. */
const RETRY_SHOWN_FROM_MS = 2000;

/** Runs one prompt or command, prints its answer and returns the exit code. */
export async function runAndPrintPrompt(
  conversation: Conversation,
  input: ResolvedUserInput,
  output: OutputOptions,
  deps: PrintDeps,
): Promise<number> {
  const { agent } = conversation;
  const record = createRunResultCollector(conversation, deps.now);
  const writer = createStreamJsonWriter(output, createStreamJsonContext(conversation, deps));
  const writesLines = output.format === 'stream-json' || (output.format === 'json' && output.detail === 'all');
  const lines: JsonObject[] = [];
  const writeLine = (line: JsonObject) => {
    const fullLine = { ...line, session_id: agent.sessionId, uuid: line.uuid ?? deps.newId() };
    if (output.format === 'stream-json') deps.write(`${JSON.stringify(fullLine)}\n`);
    else if (writesLines) lines.push(fullLine);
  };
  // The init line must come first, so lines of earlier events, such as connecting MCP servers, wait for it.
  let earlyLines: JsonObject[] | undefined = [];
  const writeAfterInit = (line: JsonObject) => {
    if (earlyLines === undefined) writeLine(line);
    else earlyLines.push(line);
  };
  const warned = new Set<string>();
  const warn = (text: string) => {
    if (!warned.has(text)) deps.warn(text);
    warned.add(text);
  };
  const textBeforeCalls = createInterimTextWriter(deps.warn);
  const backgroundAgents = trackBackgroundAgents();
  const unsubscribe = agent.subscribe((event) => {
    backgroundAgents.handleEvent(event);
    record.handleEvent(event);
    if (output.format === 'text') deps.live?.handleEvent(event);
    if (writesLines) for (const line of writer.formatEvent(event)) writeAfterInit(line);
    else if (event.type === 'notice' && (event.level !== 'info' || output.detail === 'all')) warn(event.text);
    else if (event.type === 'retry' && (event.delayMs >= RETRY_SHOWN_FROM_MS || output.detail === 'all'))
      deps.warn(formatRetry(event));
    else if (output.detail === 'all') {
      if (deps.live === undefined) textBeforeCalls.handleEvent(event);
      if (event.type === 'tool_start') deps.warn(event.title);
    }
  });
  await conversation.waitUntilReady?.();
  if (writesLines) writeLine(createStreamJsonInitLine(conversation));
  for (const line of earlyLines.splice(0)) writeLine(line);
  earlyLines = undefined;
  for (const warning of conversation.info().warnings) warn(warning);
  const { onUsageLimit } = output;
  const { terminal, text } = await runToEnd(conversation, input, backgroundAgents, { ...deps, onUsageLimit });
  unsubscribe();

  const result: JsonObject = { ...record.createResultLine(terminal, text), uuid: deps.newId() };
  const code = getExitCode(terminal, deps.abortedBy());
  switch (output.format) {
    case 'stream-json':
      deps.write(`${JSON.stringify(result)}\n`);
      break;
    case 'json':
      deps.write(`${JSON.stringify(output.detail === 'all' ? [...lines, result] : result)}\n`);
      break;
    default:
      if (terminal.reason !== 'completed') warn(describeQueryEnd(terminal));
      if (code !== 0) {
        // A signal during a stop hook comes after the answer.
        const isComplete =
          terminal.reason === 'aborted_tools' && record.hasCompleteAnswer() && !backgroundAgents.hasPending();
        const isShown = isComplete || FAILED_WITH_PARTIAL_ANSWER.has(terminal.reason);
        const partialAnswer = isShown ? record.getPartialAnswer() : '';
        if (partialAnswer === '') break;
        if (!isComplete && terminal.reason !== 'max_output_tokens') warn('The answer is incomplete.');
        if (deps.live === undefined) deps.write(`${partialAnswer}\n`);
      } else if (deps.live === undefined || input.kind === 'answer' || result.structured_output !== undefined)
        deps.write(`${formatResult(result)}\n`);
  }
  return code;
}

/** Runs the input to its end; a command has its own answer text. */
async function runToEnd(
  conversation: Conversation,
  input: ResolvedUserInput,
  backgroundAgents: BackgroundAgents,
  { answerSchema: schema, abortedBy, ending, onUsageLimit }: PrintDeps & Pick<OutputOptions, 'onUsageLimit'>,
): Promise<{ readonly terminal: Terminal; readonly text?: string }> {
  const { agent } = conversation;
  const waitForEnd = async (ended: Promise<Terminal>) => {
    if (onUsageLimit === 'wait') return waitThroughUsageLimits(ended, conversation);
    const terminal = await ended;
    await agent.waitForIdle();
    return terminal;
  };
  if (input.kind === 'answer') {
    const { text, outcome } = input;
    return { terminal: outcome === 'done' ? { reason: 'completed' } : { reason: 'model_error', words: text }, text };
  }
  let terminal = await waitForEnd(agent.prompt(input.prompt));
  // A structured answer is final, so background sub-agents are waited for only without a schema.
  while (terminal.reason === 'completed' && schema === undefined && backgroundAgents.hasPending()) {
    await Promise.race([backgroundAgents.waitUntilDone(), ending]);
    if (abortedBy() !== undefined) return { terminal: { reason: 'aborted_tools' } };
    terminal = await waitForEnd(agent.prompt(SUB_AGENTS_ENDED_PROMPT));
  }
  return { terminal: requireStructuredOutput(terminal, schema) };
}

/** Failures after which the partial answer is printed, with a warning on stderr. */
const FAILED_WITH_PARTIAL_ANSWER: ReadonlySet<Terminal['reason']> = new Set([
  'max_output_tokens',
  'api_error',
  'model_error',
  'prompt_too_long',
]);

function formatRetry({ failure, attempt, limit, delayMs }: Extract<AgentEvent, { type: 'retry' }>): string {
  return `${failure.message} Attempt ${attempt + 1} of ${limit + 1} in ${formatDuration(delayMs)}.`;
}

function formatResult(result: JsonObject): string {
  return result.structured_output === undefined ? String(result.result) : JSON.stringify(result.structured_output);
}

/** Writes the text of replies that precede tool calls or another user message, but not the final answer. */
function createInterimTextWriter(write: (text: string) => void): { handleEvent(event: AgentEvent): void } {
  let texts: readonly string[] = [];
  const flush = () => {
    const text = texts.join('\n\n').trim();
    texts = [];
    if (text !== '') write(text);
  };
  return {
    handleEvent(event) {
      if (event.type === 'block_end' && event.block.type === 'text') texts = [...texts, event.block.text];
      if (event.type === 'tombstone') texts = [];
      if (event.type === 'tool_start') flush();
      if (event.type !== 'message_end' || event.message.role !== 'user') return;
      // A reply that continues after the output limit is part of the answer.
      if (event.message.origin === 'resume') texts = [];
      else flush();
    },
  };
}
