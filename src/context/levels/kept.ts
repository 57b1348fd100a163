import { isTypedByPerson, type Message, type UserMessage } from '../../contracts/message.ts';
import { callsIn } from '../calls.ts';
import type { TokenEstimate } from '../tokens.ts';
import { isPinned } from './levels.ts';

/** What a compaction leaves alone, each message at most once. */
export type Kept = {
  readonly pins: readonly Message[];
  /** The current prompt and what was typed since, as far as the tail does not hold them. */
  readonly prompt: readonly Message[];
  readonly tail: readonly Message[];
};

/** Splits off pins, the current prompt and the last turns. A tail never begins with results whose calls are gone. */
export function splitKept(messages: readonly Message[], tailTokens: number, estimate: TokenEstimate): Kept {
  const from = tailFrom(messages, tailTokens, estimate);
  const before = messages.slice(0, from);
  const tail = messages.slice(from);
  const promptAt = before.findLastIndex((message) => isTypedByPerson(message));
  const isPromptLater = tail.some((message) => message.role === 'user' && message.origin === 'prompt');
  const promptFrom = before.findLastIndex((message) => message.role === 'user' && message.origin === 'prompt');
  const recent = before.slice(promptFrom === -1 ? Math.max(0, promptAt) : promptFrom);
  const prompt = isPromptLater ? [] : recent.filter((message) => isTypedByPerson(message) && !isPinned(message));
  return { pins: before.filter(isPinned), prompt, tail };
}

export function textOfMessage(message: UserMessage): string {
  return message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function tailFrom(messages: readonly Message[], tailTokens: number, estimate: TokenEstimate): number {
  let room = tailTokens;
  let from = messages.length;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message === undefined || message.role === 'boundary' || isSummary(message)) break;
    room -= estimate.messageTokens(message);
    if (room < 0) break;
    if (mayBegin(message)) from = index;
  }
  // The newest exchange stays even when it alone is too long; its results are shrunk instead.
  return from === messages.length ? lastExchange(messages) : from;
}

function lastExchange(messages: readonly Message[]): number {
  const last = messages.at(-1);
  if (last === undefined || mayBegin(last)) return Math.max(0, messages.length - 1);
  const reply = messages.findLastIndex((message) => callsIn(message).length > 0);
  return reply === -1 ? messages.length : reply;
}

function mayBegin(message: Message): boolean {
  return message.role === 'assistant' || isTypedByPerson(message);
}

function isSummary(message: Message): boolean {
  return message.role === 'user' && message.origin === 'summary';
}
