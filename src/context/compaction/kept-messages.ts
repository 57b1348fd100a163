import { isTypedByUser, type Message, type UserMessage } from '../../contracts/message.ts';
import { isSystemReminder } from '../../lib/text/reminder.ts';
import { isPinnedMessage } from '../reduction/propose-reductions.ts';
import type { TokenEstimator } from '../token-estimate.ts';
import { listToolCalls } from '../tool-calls.ts';

/** The messages a compaction keeps, each in one group only. */
export type KeptMessages = {
  readonly pins: readonly Message[];
  /** Current prompt and messages typed since, unless they are in the tail. */
  readonly prompt: readonly Message[];
  readonly tail: readonly Message[];
};

/** Splits off pinned messages, the current prompt and the last turns. The tail never starts with orphaned results. */
export function splitMessagesForCompaction(
  messages: readonly Message[],
  tailTokens: number,
  estimate: TokenEstimator,
): KeptMessages {
  const tailStart = findKeptTail(messages, tailTokens, estimate);
  const before = messages.slice(0, tailStart);
  const tail = messages.slice(tailStart);
  const promptAt = before.findLastIndex((message) => isTypedByUser(message));
  const isPromptInTail = tail.some((message) => message.role === 'user' && message.origin === 'prompt');
  const promptFrom = before.findLastIndex((message) => message.role === 'user' && message.origin === 'prompt');
  const recent = before.slice(promptFrom === -1 ? Math.max(0, promptAt) : promptFrom);
  const prompt = isPromptInTail ? [] : recent.filter((message) => isTypedByUser(message) && !isPinnedMessage(message));
  return { pins: before.filter(isPinnedMessage), prompt: prompt.flatMap(dropNews), tail: tail.flatMap(dropNews) };
}

/** Returns the text of a user message as the user sent it, without what hooks and ouro added. */
export function getUserPromptText({ blocks, sentBlocks }: UserMessage): string {
  return blocks
    .slice(0, sentBlocks)
    .flatMap((block) => (block.type === 'text' && !isSystemReminder(block.text) ? [block.text] : []))
    .join('\n');
}

/** Returns a message without news, which the present state replaces; one that consists of news only is dropped. */
function dropNews(message: Message): readonly Message[] {
  if (message.role !== 'user' || isPinnedMessage(message)) return [message];
  const { sentBlocks } = message;
  const blocks = message.blocks.filter((block, index) =>
    sentBlocks === undefined ? block.type !== 'text' || !isSystemReminder(block.text) : index < sentBlocks,
  );
  if (blocks.length === message.blocks.length) return [message];
  return blocks.length === 0 ? [] : [{ ...message, blocks }];
}

function findKeptTail(messages: readonly Message[], tailTokens: number, estimate: TokenEstimator): number {
  let remaining = tailTokens;
  let from = messages.length;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message === undefined || message.role === 'boundary' || isSummary(message)) break;
    remaining -= estimate.messageTokens(message);
    if (remaining < 0) break;
    if (canStartTail(message)) from = index;
  }
  // The newest exchange is kept even if it is too long by itself; its results are shrunk instead.
  return from === messages.length ? findLastExchange(messages) : from;
}

function findLastExchange(messages: readonly Message[]): number {
  const last = messages.at(-1);
  if (last === undefined || canStartTail(last)) return Math.max(0, messages.length - 1);
  const reply = messages.findLastIndex((message) => listToolCalls(message).length > 0);
  return reply === -1 ? messages.length : reply;
}

function canStartTail(message: Message): boolean {
  return message.role === 'assistant' || isTypedByUser(message);
}

function isSummary(message: Message): boolean {
  return message.role === 'user' && message.origin === 'summary';
}
