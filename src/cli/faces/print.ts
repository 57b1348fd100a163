import type { AbortReason } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { endWords, type Terminal } from '../../contracts/terminal.ts';
import type { OutputChoice } from '../args/invocation.ts';
import { exitCodeOf } from '../exit-code.ts';
import { initLine } from '../wire/init.ts';
import { createLineWriter, lineSources } from '../wire/lines.ts';
import { createRunRecord } from '../wire/result.ts';
import { type AgentsBehind, watchAgentsBehind } from './agents-behind.ts';
import { heldToForm } from './answer-form.ts';
import { throughLimits } from './through-limits.ts';
import type { Understood } from './understand.ts';
import { createWordsBetween } from './words-between.ts';

/** Where one-shot output goes. stdout carries only the result or the stream. */
export type PrintPort = {
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly newId: () => string;
  readonly now: () => number;
  /** On a terminal replies are shown while they are written; the result is not repeated then. */
  readonly live?: { hear(event: AgentEvent): void };
  /** The form an answer must have. */
  readonly answerSchema: JsonObject | undefined;
  /** What ended the run from outside, if anything did. */
  readonly abortedBy: () => AbortReason | undefined;
  /** Resolves when something outside ends the run. */
  readonly ending: Promise<unknown>;
};

const AGENTS_ENDED =
  'All sub-agents in the background have ended; what they report comes with this message. Give your whole answer to what was asked now: only this last reply is read.';

/** One prompt, one answer, one exit code. */
export async function printOnce(
  conversation: Conversation,
  said: Understood,
  output: OutputChoice,
  port: PrintPort,
): Promise<number> {
  const { agent } = conversation;
  const record = createRunRecord(conversation, port.now);
  const writer = createLineWriter(output, lineSources(conversation, port));
  const lines: JsonObject[] = [];
  const say = (line: JsonObject) => {
    const whole = { ...line, session_id: agent.sessionId, uuid: line.uuid ?? port.newId() };
    if (output.format === 'stream-json') port.write(`${JSON.stringify(whole)}\n`);
    else if (output.format === 'json' && output.detail === 'all') lines.push(whole);
  };
  // Events before the run begins, of servers that connect, are printed behind its first line.
  let early: JsonObject[] | undefined = [];
  const tell = (line: JsonObject) => {
    if (early === undefined) say(line);
    else early.push(line);
  };
  const warned = new Set<string>();
  const warn = (text: string) => {
    if (!warned.has(text)) port.warn(text);
    warned.add(text);
  };
  const between = createWordsBetween(port.warn);
  const behind = watchAgentsBehind();
  const unsubscribe = agent.subscribe((event) => {
    behind.hear(event);
    record.hear(event);
    if (output.format === 'text') port.live?.hear(event);
    if (output.format !== 'text') for (const line of writer.linesOf(event)) tell(line);
    else if (event.type === 'notice' && (event.level !== 'info' || output.detail === 'all')) warn(event.text);
    else if (output.detail === 'all') {
      if (port.live === undefined) between.hear(event);
      if (event.type === 'tool_start') port.warn(event.title);
    }
  });
  await conversation.ready?.();
  say(initLine(conversation));
  for (const line of early.splice(0)) say(line);
  early = undefined;
  for (const warning of conversation.info().warnings) warn(warning);
  const { terminal, words } = await answer(conversation, said, behind, { ...port, atLimit: output.atLimit });
  unsubscribe();

  const result: JsonObject = { ...record.result(terminal, words), uuid: port.newId() };
  const code = exitCodeOf(terminal, port.abortedBy());
  switch (output.format) {
    case 'stream-json':
      port.write(`${JSON.stringify(result)}\n`);
      break;
    case 'json':
      port.write(`${JSON.stringify(output.detail === 'all' ? [...lines, result] : result)}\n`);
      break;
    default:
      if (terminal.reason !== 'completed') warn(endWords(terminal));
      if (code !== 0) {
        const cut = LEFT_UNFINISHED.has(terminal.reason) ? record.unfinished() : '';
        if (cut === '') break;
        if (terminal.reason !== 'max_output_tokens') warn('The answer is cut: it broke off there.');
        if (port.live === undefined) port.write(`${cut}\n`);
      } else if (port.live === undefined || said.kind === 'answer' || result.structured_output !== undefined)
        port.write(`${textOf(result)}\n`);
  }
  return code;
}

/** How a prompt or a command ended; a command answers in words of its own. */
async function answer(
  conversation: Conversation,
  said: Understood,
  behind: AgentsBehind,
  { answerSchema: schema, abortedBy, ending, atLimit }: PrintPort & Pick<OutputChoice, 'atLimit'>,
): Promise<{ readonly terminal: Terminal; readonly words?: string }> {
  const { agent } = conversation;
  const asked = async (ended: Promise<Terminal>) => {
    if (atLimit === 'waits') return throughLimits(ended, conversation);
    const terminal = await ended;
    await agent.waitForIdle();
    return terminal;
  };
  if (said.kind === 'answer') {
    const { words, outcome } = said;
    return { terminal: outcome === 'done' ? { reason: 'completed' } : { reason: 'model_error', words }, words };
  }
  let terminal = await asked(agent.prompt(said.prompt));
  // An answer in a form is the end of it.
  while (terminal.reason === 'completed' && schema === undefined && behind.areOwed()) {
    await Promise.race([behind.ended(), ending]);
    if (abortedBy() !== undefined) return { terminal: { reason: 'aborted_tools' } };
    terminal = await asked(agent.prompt(AGENTS_ENDED));
  }
  return { terminal: heldToForm(terminal, schema) };
}

/** Recovery was used up: what there is of the answer is printed, and stderr says that it is cut. */
const LEFT_UNFINISHED: ReadonlySet<Terminal['reason']> = new Set([
  'max_output_tokens',
  'api_error',
  'model_error',
  'prompt_too_long',
]);

function textOf(result: JsonObject): string {
  return result.structured_output === undefined ? String(result.result) : JSON.stringify(result.structured_output);
}
