import type { AssistantBlock, AssistantMessage, Message, ToolResultBlock } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';

/** A call that was complete and never got a result, with when it was made. */
export type Dangling = { readonly callId: string; readonly tool: string; readonly at: string };

/** The messages, linked from the newest to the oldest: one more costs the same however many there are. */
type Messages = { readonly last: Message; readonly before: Messages } | undefined;

/** Linked for the same reason: a damaged file may have very many that nobody carries. */
type Results = { readonly callId: string; readonly result: ToolResultBlock; readonly before: Results } | undefined;

/** Linked, too. */
type OpenCalls = { readonly calls: readonly Dangling[]; readonly before: OpenCalls } | undefined;

/** A reply whose blocks arrive one by one. */
type OpenReply = {
  readonly id: string;
  readonly model: string;
  readonly at: string;
  readonly blocks: readonly AssistantBlock[];
};

/** The conversation as the records read so far tell it. */
export type ConversationState = {
  readonly messages: Messages;
  /** Still being written: it is none of the messages yet. */
  readonly reply: OpenReply | undefined;
  /** Results that no message has carried yet. */
  readonly results: Results;
  readonly dangling: OpenCalls;
  /** Conversations that a boundary replaced, the newest first, for going back before it. */
  readonly replaced: readonly Messages[];
  /** It went back to a message that stands before the first record that was read. */
  readonly incomplete: boolean;
};

export const EMPTY_CONVERSATION: ConversationState = {
  messages: undefined,
  reply: undefined,
  results: undefined,
  dangling: undefined,
  replaced: [],
  incomplete: false,
};

export const LOST_RESULT =
  'The session ended before this call had a result: it was interrupted; it may or may not have run.';

/** What one record changes about the conversation. */
export function nextConversation(state: ConversationState, record: SessionRecord): ConversationState {
  switch (record.type) {
    case 'assistant':
      return withBlock(state, record);
    case 'reply':
      return withReply(state, record);
    case 'result':
      return { ...state, results: { callId: record.callId, result: record.result, before: state.results } };
    case 'user':
      return withUser(state, record);
    case 'custom':
      return withMessage(closeConversation(state), record.message);
    case 'tombstone': {
      const reply = state.reply?.id === record.messageId ? undefined : state.reply;
      return { ...state, reply, messages: without(state.messages, record.messageId) };
    }
    case 'compact-boundary': {
      const closed = closeReply(state);
      const replaced = [closed.messages, ...closed.replaced];
      return { ...closed, replaced, incomplete: false, messages: linked(record.messages) };
    }
    case 'system': {
      if (record.subtype !== 'rewind') return state;
      const closed = closeReply(state);
      const versions = [closed.messages, ...closed.replaced].map(listed);
      const cut = cutBefore(String(record.data.messageId), versions);
      return cut === undefined ? { ...closed, incomplete: true } : { ...closed, messages: linked(cut) };
    }
    default:
      return state;
  }
}

/** The messages that have joined by now; a reply that is still being written has not. */
export function messagesOf({ messages }: ConversationState): readonly Message[] {
  return listed(messages);
}

/** The same with its newest messages only, and how many were left out. */
export function withNewest(
  state: ConversationState,
  most: number,
): { readonly state: ConversationState; readonly left: number } {
  const messages = messagesOf(state);
  const newest = linked(messages.slice(-most));
  return { state: { ...state, messages: newest, replaced: [] }, left: Math.max(0, messages.length - most) };
}

/** The process ended here: what was being written counts as far as it is complete, and every call has a result. */
export function closeConversation(state: ConversationState): ConversationState {
  const closed = closeReply(state);
  const last = closed.messages?.last;
  // A reply joined and its results never did.
  if (last?.role !== 'assistant') return closed;
  return withAnswers({ ...closed, messages: closed.messages?.before }, last, last.at ?? '');
}

/** The conversation up to this message, looked for in the newest version first; `undefined` when none holds it. */
export function cutBefore(
  messageId: string,
  versions: readonly (readonly Message[])[],
): readonly Message[] | undefined {
  for (const messages of versions) {
    const at = messages.findIndex((message) => message.id === messageId);
    if (at !== -1) return messages.slice(0, at);
  }
  return undefined;
}

type Of<Type> = Extract<SessionRecord, { type: Type }>;

function withBlock(state: ConversationState, { messageId, model, timestamp, block }: Of<'assistant'>) {
  const { reply } = state;
  if (reply?.id === messageId) return { ...state, reply: { ...reply, blocks: [...reply.blocks, block] } };
  return { ...closeReply(state), reply: { id: messageId, model, at: timestamp, blocks: [block] } };
}

function withReply(state: ConversationState, record: Of<'reply'>): ConversationState {
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
  return { ...withMessage(state, message), reply: undefined };
}

function withUser(state: ConversationState, { message, results: ids = [] }: Of<'user'>): ConversationState {
  if (ids.length === 0) return withMessage(closeConversation(state), message);
  const closed = closeReply(state);
  const { taken, left } = takeResults(closed.results, ids);
  const answers = ids.map((id, index) => taken[index] ?? lostResult(id));
  return withMessage({ ...closed, results: left }, { ...message, blocks: [...answers, ...message.blocks] });
}

/** The calls that never got a result, the oldest first; of one id the newest counts. */
export function danglingCalls(state: ConversationState): readonly Dangling[] {
  const parts: (readonly Dangling[])[] = [];
  for (let at = state.dangling; at !== undefined; at = at.before) parts.push(at.calls);
  const calls = parts.toReversed().flat();
  return [...new Map(calls.map((call) => [call.callId, call])).values()];
}

/** All but the messages of one id, which is nearly always the newest: those behind it are not touched. */
function without(messages: Messages, id: string): Messages {
  let oldest: Messages;
  for (let at = messages; at !== undefined; at = at.before) if (at.last.id === id) oldest = at;
  const newer: Message[] = [];
  for (let at = messages; oldest !== undefined && at !== undefined && at !== oldest; at = at.before)
    if (at.last.id !== id) newer.push(at.last);
  return newer.reduceRight<Messages>(
    (before, last) => ({ last, before }),
    oldest === undefined ? messages : oldest.before,
  );
}

/** A reply that never joined: the process ended within its turn. Its complete blocks count, its calls get what they have. */
function closeReply(state: ConversationState): ConversationState {
  if (state.reply === undefined) return state;
  const { id, model, at, blocks } = state.reply;
  const closed = { ...state, reply: undefined };
  return blocks.length === 0 ? closed : withAnswers(closed, { role: 'assistant', id, model, blocks }, at);
}

/** Adds a reply and, when it made calls, the message that answers them: with its result, or the word that it was lost. */
function withAnswers(state: ConversationState, reply: AssistantMessage, at: string): ConversationState {
  const joined = withMessage(state, reply);
  const calls = reply.blocks.filter((block) => block.type === 'tool_use');
  if (calls.length === 0) return joined;
  const { taken, left } = takeResults(
    state.results,
    calls.map(({ id }) => id),
  );
  const blocks = calls.map(({ id }, index) => taken[index] ?? lostResult(id));
  const open = calls.flatMap(({ id, name }, index) =>
    taken[index] === undefined ? [{ callId: id, tool: name, at }] : [],
  );
  return {
    ...withMessage(joined, { role: 'user', id: `${reply.id}-results`, origin: 'results', blocks }),
    results: left,
    dangling: open.length === 0 ? state.dangling : { calls: open, before: state.dangling },
  };
}

/** Some providers count calls from zero in every turn: a result is used up by the message that carries it. */
function takeResults(results: Results, ids: readonly string[]) {
  const found = new Map<string, ToolResultBlock | undefined>(ids.map((id) => [id, undefined]));
  const others: NonNullable<Results>[] = [];
  for (let at = results; at !== undefined; at = at.before) {
    // The newest of one id counts.
    if (!found.has(at.callId)) others.push(at);
    else if (found.get(at.callId) === undefined) found.set(at.callId, at.result);
  }
  const left = others.reduceRight<Results>((before, { callId, result }) => ({ callId, result, before }), undefined);
  const taken = ids.map((id) => {
    const result = found.get(id);
    found.delete(id);
    return result;
  });
  return { taken, left };
}

function lostResult(callId: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: callId, content: LOST_RESULT, is_error: true };
}

function withMessage(state: ConversationState, last: Message): ConversationState {
  return { ...state, messages: { last, before: state.messages } };
}

function linked(messages: readonly Message[]): Messages {
  return messages.reduce<Messages>((before, last) => ({ last, before }), undefined);
}

function listed(messages: Messages): readonly Message[] {
  const list: Message[] = [];
  for (let at = messages; at !== undefined; at = at.before) list.push(at.last);
  return list.reverse();
}
