import type { JsonValue } from '../../contracts/json.ts';
import { formatResultText, type TextBlock, type UserMessage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { isSystemReminder } from '../../lib/text/reminder.ts';

/** An item of the readable dialogue of a session, which includes everything before a compaction. */
export type DialogueItem =
  | { readonly kind: 'user'; readonly id: string; readonly at: string; readonly text: string }
  | {
      readonly kind: 'assistant';
      readonly id: string;
      readonly at: string;
      readonly model: string;
      readonly text: string;
    }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly at: string;
      readonly tool: string;
      readonly input: JsonValue;
      readonly result?: string;
      readonly status?: string;
    }
  | { readonly kind: 'note'; readonly at: string; readonly text: string };

const TYPED_ORIGINS: ReadonlySet<string> = new Set(['prompt', 'steer', 'follow_up', 'shell']);

/** Builds the readable dialogue of a session in order, without withdrawn messages. */
export function buildDialogue(records: readonly SessionRecord[]): readonly DialogueItem[] {
  const withdrawn = new Set(records.flatMap((record) => (record.type === 'tombstone' ? [record.messageId] : [])));
  const items: DialogueItem[] = [];
  /** Item index of every call without a result. */
  const openCalls = new Map<string, number>();
  for (const record of records) {
    const at = record.timestamp;
    switch (record.type) {
      case 'user':
        if (TYPED_ORIGINS.has(record.message.origin) && !withdrawn.has(record.message.id)) {
          items.push({ kind: 'user', id: record.message.id, at, text: getPromptText(record.message) });
        }
        break;
      case 'assistant': {
        const { block, messageId: id, model } = record;
        if (withdrawn.has(id)) break;
        if (block.type === 'text') items.push({ kind: 'assistant', id, at, model, text: getBlockText(block) });
        if (block.type === 'tool_use') {
          openCalls.set(block.id, items.length);
          items.push({ kind: 'call', id: block.id, at, tool: block.name, input: block.input });
        }
        break;
      }
      case 'result': {
        const index = openCalls.get(record.callId);
        const call = index === undefined ? undefined : items[index];
        if (index === undefined || call?.kind !== 'call') break;
        items[index] = { ...call, result: formatResultText(record.result), status: record.status };
        openCalls.delete(record.callId);
        break;
      }
      case 'compact-boundary':
        items.push({ kind: 'note', at, text: 'The conversation was compacted here.' });
        break;
      case 'system':
        if (record.subtype === 'rewind') items.push({ kind: 'note', at, text: 'The conversation was rewound here.' });
        break;
      default:
    }
  }
  return items;
}

function getBlockText({ text, cut }: TextBlock): string {
  return cut === true ? `${text} … [cut off here]` : text;
}

function getPromptText({ blocks, sentBlocks }: UserMessage): string {
  return blocks
    .slice(0, sentBlocks)
    .flatMap((block) => {
      if (block.type === 'text') return isSystemReminder(block.text) ? [] : [block.text];
      return block.type === 'image' || block.type === 'document' ? [`[${block.type}]`] : [];
    })
    .join('\n');
}
