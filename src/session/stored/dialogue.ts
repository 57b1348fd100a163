import type { JsonValue } from '../../contracts/json.ts';
import type { TextBlock, ToolResultBlock, UserMessage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { isReminder } from '../../lib/text/is-reminder.ts';

/** A session as people read it: everything that was said, in order, compacted or not. */
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

const TYPED: ReadonlySet<string> = new Set(['prompt', 'steer', 'follow_up', 'shell']);

/** What was said and done, in order. What was taken back is not in it. */
export function dialogueOf(records: readonly SessionRecord[]): readonly DialogueItem[] {
  const gone = new Set(records.flatMap((record) => (record.type === 'tombstone' ? [record.messageId] : [])));
  const items: DialogueItem[] = [];
  /** Where the call stands that still waits for its result. */
  const waiting = new Map<string, number>();
  for (const record of records) {
    const at = record.timestamp;
    switch (record.type) {
      case 'user':
        if (TYPED.has(record.message.origin) && !gone.has(record.message.id)) {
          items.push({ kind: 'user', id: record.message.id, at, text: spoken(record.message) });
        }
        break;
      case 'assistant': {
        const { block, messageId: id, model } = record;
        if (gone.has(id)) break;
        if (block.type === 'text') items.push({ kind: 'assistant', id, at, model, text: wordsOf(block) });
        if (block.type === 'tool_use') {
          waiting.set(block.id, items.length);
          items.push({ kind: 'call', id: block.id, at, tool: block.name, input: block.input });
        }
        break;
      }
      case 'result': {
        const where = waiting.get(record.callId);
        const call = where === undefined ? undefined : items[where];
        if (where === undefined || call?.kind !== 'call') break;
        items[where] = { ...call, result: resultText(record.result), status: record.status };
        waiting.delete(record.callId);
        break;
      }
      case 'compact-boundary':
        items.push({ kind: 'note', at, text: 'The conversation was compacted here.' });
        break;
      case 'system':
        if (record.subtype === 'rewind')
          items.push({ kind: 'note', at, text: 'The conversation went back from here.' });
        break;
      default:
    }
  }
  return items;
}

function wordsOf({ text, cut }: TextBlock): string {
  return cut === true ? `${text} … [cut off here]` : text;
}

function spoken({ blocks }: UserMessage): string {
  return blocks
    .flatMap((block) => {
      if (block.type === 'text') return isReminder(block.text) ? [] : [block.text];
      return block.type === 'image' || block.type === 'document' ? [`[${block.type}]`] : [];
    })
    .join('\n');
}

function resultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}
