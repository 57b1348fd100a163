import type { AbortReason } from '../../../contracts/agent.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import { describeQueryEnd, type Terminal } from '../../../contracts/terminal-reason.ts';
import { formatDuration } from '../../../lib/text/format.ts';
import type { OutputOptions } from '../../args/invocation.ts';
import { getExitCode } from '../../exit-code.ts';
import { createStreamJsonContext, createStreamJsonWriter } from '../../stream-json/event-lines.ts';
import { createRunResultCollector } from '../../stream-json/run-result.ts';
import { createStreamJsonInitLine } from '../../stream-json/system-lines.ts';
import type { ResolvedUserInput } from '../resolve-user-input.ts';
import {
  type BackgroundAgents,
  requireStructuredOutput,
  trackBackgroundAgents,
  waitThroughUsageLimits,
} from '../run-completion.ts';

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
  const lines: JsonObject[] = [];
  const writeLine = (line: JsonObject) => {
    const fullLine = { ...line, session_id: agent.sessionId, uuid: line.uuid ?? deps.newId() };
    if (output.format === 'stream-json') deps.write(`${JSON.stringify(fullLine)}\n`);
    else if (output.format === 'json' && output.detail === 'all') lines.push(fullLine);
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
    if (output.format !== 'text') for (const line of writer.formatEvent(event)) writeAfterInit(line);
    else if (event.type === 'notice' && (event.level !== 'info' || output.detail === 'all')) warn(event.text);
    else if (event.type === 'retry' && (event.delayMs >= RETRY_SHOWN_FROM_MS || output.detail === 'all'))
      deps.warn(formatRetry(event));
    else if (output.detail === 'all') {
      if (deps.live === undefined) textBeforeCalls.handleEvent(event);
      if (event.type === 'tool_start') deps.warn(event.title);
    }
  });
  await conversation.waitUntilReady?.();
  writeLine(createStreamJsonInitLine(conversation));
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
        const partialAnswer = FAILED_WITH_PARTIAL_ANSWER.has(terminal.reason) ? record.getPartialAnswer() : '';
        if (partialAnswer === '') break;
        if (terminal.reason !== 'max_output_tokens') warn('The answer is incomplete.');
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
