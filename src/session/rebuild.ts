import type { AssistantBlock, Message, ToolResultBlock } from '../contracts/message.ts';
import type { SessionRecord } from '../contracts/session.ts';

/** A conversation as its records tell it. */
export type Rebuilt = {
  readonly messages: readonly Message[];
  readonly lastUuid: string | null;
  readonly title: string | undefined;
  /** The newest `system` record of each subtype, for what a resume restores. */
  readonly state: ReadonlyMap<string, SessionRecord>;
  /** Calls that were complete and never got a result, with when they were made. */
  readonly dangling: readonly { readonly callId: string; readonly tool: string; readonly at: string }[];
  /** Messages that were queued and never delivered. */
  readonly queued: readonly string[];
};

type Open = { readonly id: string; readonly model: string; readonly at: string; readonly blocks: AssistantBlock[] };

export const LOST_RESULT = 'The session ended before this call had a result: it may or may not have run.';

/** Every user message, completed block and completed result exactly once, whatever moment the process ended at. */
export function rebuild(records: readonly SessionRecord[]): Rebuilt {
  let messages: Message[] = [];
  let open: Open | undefined;
  let title: string | undefined;
  const results = new Map<string, ToolResultBlock>();
  const state = new Map<string, SessionRecord>();
  const queued = new Map<string, string>();
  const dangling: { callId: string; tool: string; at: string }[] = [];

  /** A reply that never joined: the process ended within its turn. Its complete blocks count, its calls get what they have. */
  function closeOpen(): void {
    if (open === undefined) return;
    const { id, model, at, blocks } = open;
    open = undefined;
    if (blocks.length === 0) return;
    messages.push({ role: 'assistant', id, model, blocks });
    const calls = blocks.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return;
    for (const call of calls) if (!results.has(call.id)) dangling.push({ callId: call.id, tool: call.name, at });
    messages.push({
      role: 'user',
      id: `${id}-results`,
      origin: 'results',
      blocks: calls.map((call) => results.get(call.id) ?? lost(call.id)),
    });
  }

  for (const record of records) {
    switch (record.type) {
      case 'assistant':
        if (open?.id !== record.messageId) {
          closeOpen();
          open = { id: record.messageId, model: record.model, at: record.timestamp, blocks: [] };
        }
        open.blocks.push(record.block);
        break;
      case 'reply': {
        const blocks = open?.id === record.messageId ? open.blocks : [];
        const { messageId, model, kept, stopReason, usage } = record;
        messages.push({
          role: 'assistant',
          id: messageId,
          model,
          blocks: kept.flatMap((at) => blocks[at] ?? []),
          ...(stopReason && { stopReason }),
          ...(usage && { usage }),
        });
        open = undefined;
        break;
      }
      case 'result':
        if (!results.has(record.callId)) results.set(record.callId, record.result);
        break;
      case 'user': {
        closeOpen();
        const { message, results: ids = [] } = record;
        const answers = ids.map((id) => results.get(id) ?? lost(id));
        messages.push(answers.length === 0 ? message : { ...message, blocks: [...answers, ...message.blocks] });
        break;
      }
      case 'tombstone':
        if (open?.id === record.messageId) open = undefined;
        messages = messages.filter((message) => message.id !== record.messageId);
        break;
      case 'compact-boundary':
        closeOpen();
        messages = [...record.messages];
        break;
      case 'title':
        title = record.title;
        break;
      case 'queue':
        if (record.state === 'queued') queued.set(record.item.id, wordsOf(record.item.message.blocks));
        else queued.delete(record.item.id);
        break;
      case 'system':
        state.set(record.subtype, record);
        break;
      default:
    }
  }
  if (open !== undefined || lastCallsUnanswered(messages)) closeAtEnd();
  return { messages, lastUuid: records.at(-1)?.uuid ?? null, title, state, dangling, queued: [...queued.values()] };

  function closeAtEnd(): void {
    if (open !== undefined) {
      closeOpen();
      return;
    }
    const last = messages.at(-1);
    if (last?.role !== 'assistant') return;
    open = { id: last.id, model: last.model, at: '', blocks: [...last.blocks] };
    messages = messages.slice(0, -1);
    closeOpen();
  }
}

function lastCallsUnanswered(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.blocks.some((block) => block.type === 'tool_use');
}

function lost(callId: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: callId, content: LOST_RESULT, is_error: true };
}

function wordsOf(blocks: readonly { readonly type: string }[]): string {
  return blocks.flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : [])).join('\n');
}
