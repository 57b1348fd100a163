import type { AssistantBlock, AssistantMessage, Message, ToolResultBlock } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';

/** A complete tool call that never got a result, with the time it was made. */
export type DanglingCall = { readonly callId: string; readonly tool: string; readonly at: string };

/** The messages as a linked list from newest to oldest, so that adding one takes constant time. */
type MessageList = { readonly last: Message; readonly before: MessageList } | undefined;

/** A linked list as well: a damaged file may hold very many results that no message carries. */
type ResultList =
  | { readonly callId: string; readonly result: ToolResultBlock; readonly before: ResultList }
  | undefined;

/** A linked list of the dangling calls of each reply. */
type DanglingList = { readonly calls: readonly DanglingCall[]; readonly before: DanglingList } | undefined;

/** A reply whose blocks are still arriving. */
type OpenReply = {
  readonly id: string;
  readonly model: string;
  readonly at: string;
  readonly blocks: readonly AssistantBlock[];
};

/** The conversation according to the records read so far. */
export type ConversationState = {
  readonly messages: MessageList;
  /** Reply still being written; not yet one of the messages. */
  readonly reply: OpenReply | undefined;
  /** Results that no message carries yet. */
  readonly results: ResultList;
  readonly dangling: DanglingList;
  /** Conversations replaced by a boundary, newest first, for rewinding to before it. */
  readonly replacedVersions: readonly MessageList[];
  /** True after a rewind to a message before the first record that was read. */
  readonly incomplete: boolean;
};

/** The state before any record was read. */
export const EMPTY_CONVERSATION: ConversationState = {
  messages: undefined,
  reply: undefined,
  results: undefined,
  dangling: undefined,
  replacedVersions: [],
  incomplete: false,
};

/** The result given to a call that was cut off by the end of the process. */
export const LOST_TOOL_RESULT =
  'The session ended before this call had a result: it was interrupted; it may or may not have run.';

/** Returns the conversation state after one more record. */
export function reduceConversation(state: ConversationState, record: SessionRecord): ConversationState {
  switch (record.type) {
    case 'assistant':
      return addBlock(state, record);
    case 'reply':
      return addReply(state, record);
    case 'result':
      return { ...state, results: { callId: record.callId, result: record.result, before: state.results } };
    case 'user':
      return addUserMessage(state, record);
    case 'custom':
      return addMessage(closeInterruptedConversation(state), record.message);
    case 'tombstone': {
      const reply = state.reply?.id === record.messageId ? undefined : state.reply;
      return { ...state, reply, messages: removeMessages(state.messages, record.messageId) };
    }
    case 'compact-boundary': {
      const closed = closeReply(state);
      const replacedVersions = [closed.messages, ...closed.replacedVersions];
      return { ...closed, replacedVersions, incomplete: false, messages: toLinkedList(record.messages) };
    }
    case 'system': {
      if (record.subtype !== 'rewind') return state;
      const closed = closeReply(state);
      const versions = [closed.messages, ...closed.replacedVersions].map(toArray);
      const cut = truncateBeforeMessage(String(record.data.messageId), versions);
      return cut === undefined ? { ...closed, incomplete: true } : { ...closed, messages: toLinkedList(cut) };
    }
    default:
      return state;
  }
}

/** Returns the messages of the conversation, without a reply that is still being written. */
export function listConversationMessages({ messages }: ConversationState): readonly Message[] {
  return toArray(messages);
}

/** Keeps only the newest messages; returns the new state and the number of messages dropped. */
export function keepNewestMessages(
  state: ConversationState,
  most: number,
): { readonly state: ConversationState; readonly left: number } {
  const messages = listConversationMessages(state);
  const newest = toLinkedList(messages.slice(-most));
  return { state: { ...state, messages: newest, replacedVersions: [] }, left: Math.max(0, messages.length - most) };
}

/** Closes the conversation as if the process ended here: complete blocks are kept and every call gets a result. */
export function closeInterruptedConversation(state: ConversationState): ConversationState {
  const closed = closeReply(state);
  const last = closed.messages?.last;
  // The last reply is complete, but its results were never recorded.
  if (last?.role !== 'assistant') return closed;
  return addReplyWithResults({ ...closed, messages: closed.messages?.before }, last, last.at ?? '');
}

/** Returns the messages before the given one, from the newest version that holds it; `undefined` when none does. */
export function truncateBeforeMessage(
  messageId: string,
  versions: readonly (readonly Message[])[],
): readonly Message[] | undefined {
  for (const messages of versions) {
    const index = messages.findIndex((message) => message.id === messageId);
    if (index !== -1) return messages.slice(0, index);
  }
  return undefined;
}

type RecordOf<Type> = Extract<SessionRecord, { type: Type }>;

function addBlock(state: ConversationState, { messageId, model, timestamp, block }: RecordOf<'assistant'>) {
  const { reply } = state;
  if (reply?.id === messageId) return { ...state, reply: { ...reply, blocks: [...reply.blocks, block] } };
  return { ...closeReply(state), reply: { id: messageId, model, at: timestamp, blocks: [block] } };
}

function addReply(state: ConversationState, record: RecordOf<'reply'>): ConversationState {
  const { messageId: id, model, kept, stopReason, usage, timestamp: at } = record;
  const blocks = state.reply?.id === id ? state.reply.blocks : [];
  const message: AssistantMessage = {
    role: 'assistant',
    id,
    model,
    blocks: kept.flatMap((index) => blocks[index] ?? []),
    at,
    ...(stopReason && { stopReason }),
    ...(usage && { usage }),
  };
  return { ...addMessage(state, message), reply: undefined };
}

function addUserMessage(state: ConversationState, { message, results: ids = [] }: RecordOf<'user'>): ConversationState {
  if (ids.length === 0) return addMessage(closeInterruptedConversation(state), message);
  const closed = closeReply(state);
  const { taken, left: remaining } = takeResults(closed.results, ids);
  const answers = ids.map((id, index) => taken[index] ?? createLostResult(id));
  return addMessage({ ...closed, results: remaining }, { ...message, blocks: [...answers, ...message.blocks] });
}

/** Returns the calls that never got a result, oldest first; of several with one id the newest. */
export function listDanglingCalls(state: ConversationState): readonly DanglingCall[] {
  const parts: (readonly DanglingCall[])[] = [];
  for (let node = state.dangling; node !== undefined; node = node.before) parts.push(node.calls);
  const calls = parts.toReversed().flat();
  return [...new Map(calls.map((call) => [call.callId, call])).values()];
}

/** Removes the messages with an id. It is nearly always the newest one, so the older part of the list is shared. */
function removeMessages(messages: MessageList, id: string): MessageList {
  let oldest: MessageList;
  for (let node = messages; node !== undefined; node = node.before) if (node.last.id === id) oldest = node;
  const newer: Message[] = [];
  for (let node = messages; oldest !== undefined && node !== undefined && node !== oldest; node = node.before)
    if (node.last.id !== id) newer.push(node.last);
  return newer.reduceRight<MessageList>(
    (before, last) => ({ last, before }),
    oldest === undefined ? messages : oldest.before,
  );
}

/** Closes a reply cut off by the end of the process: keeps its complete blocks and the known results of its calls. */
function closeReply(state: ConversationState): ConversationState {
  if (state.reply === undefined) return state;
  const { id, model, at, blocks } = state.reply;
  const closed = { ...state, reply: undefined };
  return blocks.length === 0 ? closed : addReplyWithResults(closed, { role: 'assistant', id, model, blocks }, at);
}

/** Adds a reply and, when it made calls, a message with their results; a missing result becomes `LOST_TOOL_RESULT`. */
function addReplyWithResults(state: ConversationState, reply: AssistantMessage, at: string): ConversationState {
  const joined = addMessage(state, reply);
  const calls = reply.blocks.filter((block) => block.type === 'tool_use');
  if (calls.length === 0) return joined;
  const { taken, left: remaining } = takeResults(
    state.results,
    calls.map(({ id }) => id),
  );
  const blocks = calls.map(({ id }, index) => taken[index] ?? createLostResult(id));
  const unanswered = calls.flatMap(({ id, name }, index) =>
    taken[index] === undefined ? [{ callId: id, tool: name, at }] : [],
  );
  return {
    ...addMessage(joined, { role: 'user', id: `${reply.id}-results`, origin: 'results', blocks }),
    results: remaining,
    dangling: unanswered.length === 0 ? state.dangling : { calls: unanswered, before: state.dangling },
  };
}

/** Takes results out of the list. Some providers reuse call ids in every turn, so a result is taken only once. */
function takeResults(results: ResultList, ids: readonly string[]) {
  const found = new Map<string, ToolResultBlock | undefined>(ids.map((id) => [id, undefined]));
  const others: NonNullable<ResultList>[] = [];
  for (let node = results; node !== undefined; node = node.before) {
    // The list runs from newest to oldest, so the first result of an id is the newest.
    if (!found.has(node.callId)) others.push(node);
    else if (found.get(node.callId) === undefined) found.set(node.callId, node.result);
  }
  const remaining = others.reduceRight<ResultList>(
    (before, { callId, result }) => ({ callId, result, before }),
    undefined,
  );
  const taken = ids.map((id) => {
    const result = found.get(id);
    found.delete(id);
    return result;
  });
  return { taken, left: remaining };
}

function createLostResult(callId: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: callId, content: LOST_TOOL_RESULT, is_error: true };
}

function addMessage(state: ConversationState, last: Message): ConversationState {
  return { ...state, messages: { last, before: state.messages } };
}

function toLinkedList(messages: readonly Message[]): MessageList {
  return messages.reduce<MessageList>((before, last) => ({ last, before }), undefined);
}

function toArray(messages: MessageList): readonly Message[] {
  const list: Message[] = [];
  for (let node = messages; node !== undefined; node = node.before) list.push(node.last);
  return list.reverse();
}
