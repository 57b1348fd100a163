import type { AbortReason, Prompt } from '../contracts/agent.ts';
import type { Conversation } from '../contracts/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import { exitCodeOf } from './exit-code.ts';
import { initLine } from './wire/init.ts';
import { createLineWriter, type LineOptions } from './wire/lines.ts';
import { createRunRecord } from './wire/result.ts';

/** Where one-shot output goes, and how. stdout carries only the result or the stream. */
export type PrintOptions = LineOptions & {
  readonly format: 'text' | 'json' | 'stream-json';
  readonly verbose: boolean;
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly newId: () => string;
  readonly now: () => number;
};

/** One prompt, one answer, one exit code. */
export async function printOnce(
  conversation: Conversation,
  prompt: Prompt,
  options: PrintOptions,
  abortedBy: () => AbortReason | undefined,
): Promise<number> {
  const record = createRunRecord(options.now(), options.now);
  const writer = createLineWriter(options, () => new Date(options.now()));
  const lines: JsonObject[] = [];
  const say = (line: JsonObject) => {
    const whole = { ...line, session_id: conversation.agent.sessionId, uuid: line.uuid ?? options.newId() };
    if (options.format === 'stream-json') options.write(`${JSON.stringify(whole)}\n`);
    else if (options.verbose) lines.push(whole);
  };
  const unsubscribe = conversation.agent.subscribe((event) => {
    record.hear(event);
    for (const line of writer.linesOf(event)) say(line);
    if (options.format === 'text' && event.type === 'notice' && event.level === 'warn') options.warn(event.text);
  });
  say(initLine(conversation));
  for (const warning of conversation.info().warnings) options.warn(warning);
  const terminal = await conversation.agent.prompt(prompt);
  await conversation.agent.waitForIdle();
  unsubscribe();
  const result = { ...record.result(terminal, conversation), uuid: options.newId() };
  const code = exitCodeOf(terminal, abortedBy());
  if (options.format === 'stream-json') options.write(`${JSON.stringify(result)}\n`);
  else if (options.format === 'json')
    options.write(`${JSON.stringify(options.verbose ? [...lines, result] : result)}\n`);
  else if (code === 0) options.write(`${textOf(result, record.text())}\n`);
  else options.warn(terminal.words ?? `The run ended: ${terminal.reason}.`);
  return code;
}

function textOf(result: JsonObject, text: string): string {
  return result.structured_output === undefined
    ? String(result.result ?? text)
    : JSON.stringify(result.structured_output);
}
