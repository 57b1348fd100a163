import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/contracts/json.ts';
import {
  buildReplyMessage,
  createMessagesReplyState,
  reduceMessagesReply,
} from '../../../src/model/stream/reply-reducer.ts';

function feed(events: readonly JsonObject[]) {
  let reply = createMessagesReplyState('claude-test');
  const steps = events.map((event) => {
    const step = reduceMessagesReply(reply, event, () => 'made-up');
    reply = step.reply;
    return step;
  });
  return { reply, events: steps.flatMap((step) => step.events), progress: steps.map((step) => step.progress) };
}

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    model: 'echoed',
    usage: { input_tokens: 5, cache_read_input_tokens: 90, cache_creation_input_tokens: 7, output_tokens: 1 },
  },
};

function block(index: number, content_block: JsonObject, ...deltas: JsonObject[]): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function blocksOf(...events: JsonObject[]) {
  return buildReplyMessage(feed([START, ...events]).reply)?.blocks;
}

describe('reduceWire', () => {
  test('text grows and keeps its citations', () => {
    const citation = { type: 'web_search_result_location', url: 'https://a.test' };
    expect(
      blocksOf(
        ...block(
          0,
          { type: 'text', text: '' },
          { type: 'text_delta', text: 'a' },
          { type: 'citations_delta', citation },
          { type: 'text_delta', text: 'b' },
        ),
      ),
    ).toEqual([{ type: 'text', text: 'ab', citations: [citation] }]);
  });

  test('thinking keeps its signature, redacted thinking its bytes', () => {
    expect(
      blocksOf(
        ...block(
          0,
          { type: 'thinking', thinking: '' },
          { type: 'thinking_delta', thinking: 'hm' },
          { type: 'signature_delta', signature: 'sig' },
        ),
        ...block(1, { type: 'redacted_thinking', data: 'secret' }),
      ),
    ).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'redacted_thinking', data: 'secret' },
    ]);
  });

  test('a call is parsed once its input is complete; no input at all is an empty object', () => {
    const call = { type: 'tool_use', id: 't1', name: 'Read', input: {} };
    expect(
      blocksOf(
        ...block(
          0,
          call,
          { type: 'input_json_delta', partial_json: '{"z":1,' },
          { type: 'input_json_delta', partial_json: '"a":2}' },
        ),
        ...block(1, { ...call, id: 't2' }, { type: 'input_json_delta', partial_json: '' }),
      ),
    ).toEqual([
      { type: 'tool_use', id: 't1', name: 'Read', input: { z: 1, a: 2 } },
      { type: 'tool_use', id: 't2', name: 'Read', input: {} },
    ]);
  });

  test('input that is no JSON object is kept as written', () => {
    const call = { type: 'tool_use', id: 't1', name: 'Read', input: {} };
    const half = blocksOf(...block(0, call, { type: 'input_json_delta', partial_json: '{"path": "/a' }));
    const list = blocksOf(...block(0, call, { type: 'input_json_delta', partial_json: '[1]' }));
    expect(half).toEqual([{ type: 'tool_use', id: 't1', name: 'Read', input: {}, unparsed: '{"path": "/a' }]);
    expect(list).toEqual([{ type: 'tool_use', id: 't1', name: 'Read', input: [1], unparsed: '[1]' }]);
  });

  test.each([undefined, null, '0', -1])('a text whose blocks have the index %j is complete', (index) => {
    const [start, ...rest] = block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'a' }).map((event) => ({
      ...event,
      index,
    }));
    expect(blocksOf(start ?? {}, ...rest)).toEqual([{ type: 'text', text: 'a' }]);
    expect(blocksOf(...rest)).toEqual([{ type: 'text', text: 'a' }]);
  });

  test('server tool blocks are kept whole, with their streamed input', () => {
    const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} };
    const found = {
      type: 'web_search_tool_result',
      tool_use_id: 's1',
      content: [{ type: 'web_search_result', encrypted_content: 'x' }],
    };
    expect(
      blocksOf(...block(0, search, { type: 'input_json_delta', partial_json: '{"query":"q"}' }), ...block(1, found)),
    ).toEqual([
      { type: 'server', raw: { ...search, input: { query: 'q' } } },
      { type: 'server', raw: found },
    ]);
  });

  test('unknown events, deltas and blocks are ignored or kept opaque', () => {
    const { reply, progress } = feed([
      START,
      { type: 'ping' },
      { type: 'hologram' },
      ...block(0, { type: 'hologram', data: 1 }, { type: 'hologram_delta', data: 2 }),
      ...block(1, { type: 'text', text: '' }, { type: 'smell_delta', smell: 'x' }, { type: 'text_delta', text: 'ok' }),
      { type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'late' } },
      { type: 'content_block_stop', index: 9 },
    ]);
    expect(buildReplyMessage(reply)?.blocks).toEqual([
      { type: 'opaque', raw: { type: 'hologram', data: 1 } },
      { type: 'text', text: 'ok' },
      { type: 'text', text: 'late' },
    ]);
    expect(progress.slice(0, 3)).toEqual(['content', 'none', 'none']);
  });

  test.each<[string, JsonObject, JsonObject, string]>([
    ['text', { type: 'text', text: '' }, { type: 'text_delta', text: 'a' }, 'content'],
    ['an empty text', { type: 'text', text: '' }, { type: 'text_delta', text: '' }, 'none'],
    ['blanks', { type: 'text', text: '' }, { type: 'text_delta', text: ' \n' }, 'frame'],
    ['thoughts', { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: 'a' }, 'content'],
    ['a signature', { type: 'thinking', thinking: '' }, { type: 'signature_delta', signature: 'a' }, 'frame'],
    ['an unknown part', { type: 'text', text: '' }, { type: 'smell_delta', smell: 'x' }, 'frame'],
  ])('empty blocks are frames, and %s in a block counts as what it carries', (_, start, delta, progress) => {
    expect(feed([START, ...block(0, start, delta)]).progress).toEqual(['content', 'frame', progress, 'frame']);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['input', { type: 'tool_use', id: 'a', name: 'Read' }, { type: 'input_json_delta', partial_json: '{}' }],
    ['citations', { type: 'text', text: 'a' }, { type: 'citations_delta', citation: { url: 'a' } }],
  ])('a block that starts with content, and %s, are content', (_, start, delta) => {
    expect(feed([START, ...block(0, start, delta)]).progress).toEqual(['content', 'content', 'content', 'frame']);
  });

  test('usage is split by cache and takes the last totals; the model is the requested one', () => {
    const { reply } = feed([
      START,
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 42, server_tool_use: { web_search_requests: 2 } },
      },
      { type: 'message_stop' },
    ]);
    const usage = { inputTokens: 5, outputTokens: 42, cacheReadTokens: 90, cacheWriteTokens: 7, webSearches: 2 };
    expect(buildReplyMessage(reply)).toEqual({
      role: 'assistant',
      id: 'msg_1',
      model: 'claude-test',
      blocks: [],
      stopReason: 'end_turn',
      usage,
    });
    expect([reply.stopReason, reply.isStopped]).toEqual(['end_turn', true]);
  });

  test('an unfinished block is not part of the message', () => {
    const open = block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'half' }).slice(0, -1);
    expect(blocksOf(...open)).toEqual([]);
  });

  test('events are in order', () => {
    const { events } = feed([
      START,
      ...block(
        0,
        { type: 'tool_use', id: 't', name: 'Bash', input: {} },
        { type: 'input_json_delta', partial_json: '{}' },
      ),
    ]);
    expect(events.map((event) => event.type)).toEqual(['message_start', 'block_start', 'input_delta', 'block_end']);
  });

  test('no JSON can make it throw', () => {
    const anything = fc.jsonValue().map(
      (value): JsonObject =>
        JSON.parse(
          JSON.stringify({
            type: 'content_block_start',
            index: 0,
            content_block: value,
            delta: value,
            message: value,
            usage: value,
          }),
        ),
    );
    const types = fc.constantFrom(
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'x',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(types, anything), { maxLength: 8 }), (events) => {
        feed(events.map(([type, event]) => ({ ...event, type })));
      }),
      { numRuns: 60 },
    );
  });
});

test('content cleared by the provider is reported with the reply', () => {
  const edits = [
    { type: 'clear_tool_uses_20250919', cleared_tool_uses: 3, cleared_input_tokens: 40_000 },
    { type: 'clear_thinking_20251015', cleared_thinking_turns: 2, cleared_input_tokens: 1_000 },
  ];
  const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } };
  const { reply } = feed([START, { ...delta, context_management: { applied_edits: edits } }, { type: 'message_stop' }]);
  expect(reply.usage).toMatchObject({ inputTokens: 5, outputTokens: 9, cleared: { results: 3, tokens: 41_000 } });
  expect(feed([START, { ...delta, context_management: { applied_edits: 'odd' } }]).reply.usage).not.toHaveProperty(
    'cleared',
  );
});

test.each([1_000_000_000, -1, 1.5])('a block with the index %d comes after the others', (index) => {
  const { reply, events } = feed([
    START,
    ...block(0, { type: 'text', text: 'one' }),
    ...block(index, { type: 'text', text: 'two' }),
    ...block(index, { type: 'text', text: 'three' }),
  ]);
  expect(buildReplyMessage(reply)?.blocks).toEqual(['one', 'two', 'three'].map((text) => ({ type: 'text', text })));
  expect(events.flatMap((event) => (event.type === 'block_end' ? [event.index] : []))).toEqual([0, 1, 2]);
});

test('the position of a block whose index is used again is that of no other block', () => {
  const { reply } = feed([
    START,
    ...block(0, { type: 'text', text: 'one' }),
    ...block(2, { type: 'text', text: 'two' }),
    ...block(2, { type: 'text', text: 'three' }),
  ]);
  expect(buildReplyMessage(reply)?.blocks).toEqual(['one', 'two', 'three'].map((text) => ({ type: 'text', text })));
});
