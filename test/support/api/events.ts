import type { ServerEvent } from './dialect.ts';
import type { ApiBlock, ApiReply } from './reply.ts';

/** A reply as the stream of events the API would send. */
export function eventsOf(reply: ApiReply, id: string, model: string): readonly ServerEvent[] {
  const { usage } = reply;
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  return [
    named({ type: 'message_start', message }),
    named({ type: 'ping' }),
    ...reply.blocks.flatMap((block, index) => blockEvents(block, index, reply.chunk)),
    named({
      type: 'message_delta',
      delta: { stop_reason: reply.stop ?? null, stop_sequence: null },
      usage: { ...usage },
      ...(reply.cleared && {
        context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', ...reply.cleared }] },
      }),
    }),
    named({ type: 'message_stop' }),
  ];
}

/** The same reply as one JSON message. */
export function messageOf(reply: ApiReply, id: string, model: string): object {
  const content = reply.blocks.map(({ json: _, ...block }) => block);
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: reply.stop ?? null,
    stop_sequence: null,
    usage: reply.usage,
  };
}

function named(data: { readonly type: string; readonly [key: string]: unknown }): ServerEvent {
  return { event: data.type, data };
}

function blockEvents(block: ApiBlock, index: number, chunk: number | undefined): readonly ServerEvent[] {
  const delta = (value: object) => named({ type: 'content_block_delta', index, delta: value });
  const start = (content_block: object) => named({ type: 'content_block_start', index, content_block });
  const stop = named({ type: 'content_block_stop', index });
  if (block.type === 'text') {
    const deltas = splitText(String(block.text), chunk).map((text) => delta({ type: 'text_delta', text }));
    const { citations } = block;
    if (!Array.isArray(citations)) return [start({ type: 'text', text: '' }), ...deltas, stop];
    const sources = citations.map((citation) => delta({ type: 'citations_delta', citation }));
    return [start({ type: 'text', text: '', citations: [] }), ...sources, ...deltas, stop];
  }
  if (block.type === 'thinking') {
    const deltas = splitText(String(block.thinking), chunk).map((thinking) =>
      delta({ type: 'thinking_delta', thinking }),
    );
    const signed = delta({ type: 'signature_delta', signature: block.signature });
    return [start({ type: 'thinking', thinking: '', signature: '' }), ...deltas, signed, stop];
  }
  if (block.type === 'tool_use' || block.type === 'server_tool_use') {
    const json = typeof block.json === 'string' ? block.json : JSON.stringify(block.input);
    const deltas = splitText(json, chunk).map((partial_json) => delta({ type: 'input_json_delta', partial_json }));
    return [start({ type: block.type, id: block.id, name: block.name, input: {} }), ...deltas, stop];
  }
  return [start(block), stop];
}

/** Splits a text into parts of a size, never inside a character. */
export function splitText(text: string, wanted: number | undefined): readonly string[] {
  const characters = [...text];
  const size = wanted ?? Math.max(20, Math.ceil(characters.length / 100));
  const found: string[] = [];
  for (let at = 0; at < characters.length; at += size) found.push(characters.slice(at, at + size).join(''));
  return found;
}
