import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/contracts/json.ts';
import type { Effort, ModelRequest } from '../../../../src/contracts/model.ts';
import { getModelInfo } from '../../../../src/model/built-in-models.ts';
import {
  buildMessagesRequest,
  serializeMessagesRequest,
  serializeModelRequest,
} from '../../../../src/model/providers/anthropic/messages-request.ts';
import { violationOfThinking } from '../../../support/api/validate-tools.ts';

const ADAPTIVE = { type: 'adaptive', display: 'summarized' };

const BASE: ModelRequest = {
  model: 'claude-opus-4-6',
  maxOutputTokens: 8000,
  system: [
    { name: 'base', text: 'You help.' },
    { name: 'blank', text: '  ' },
    { name: 'memory', text: 'Notes.' },
  ],
  tools: [
    { name: 'Bash', description: 'runs', input_schema: { type: 'object' } },
    { name: 'Read', description: 'reads', input_schema: { type: 'object' } },
  ],
  messages: [{ role: 'user', blocks: [{ type: 'text', text: 'hi' }] }],
  breakpoints: [],
  effort: 'off',
};

function wire(change: Partial<ModelRequest>) {
  const request = { ...BASE, ...change };
  return buildMessagesRequest(request, getModelInfo(request.model));
}

describe('encodeRequest', () => {
  test('the same request gives the same bytes, in one key order', () => {
    expect(JSON.stringify(wire({}))).toBe(
      '{"model":"claude-opus-4-6","max_tokens":8000,"system":[{"type":"text","text":"You help."},{"type":"text","text":"Notes."}],' +
        '"tools":[{"name":"Bash","description":"runs","input_schema":{"type":"object"}},{"name":"Read","description":"reads","input_schema":{"type":"object"}}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],' +
        '"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":670000},' +
        '"keep":{"type":"tool_uses","value":10},"clear_at_least":{"type":"input_tokens","value":67000},"exclude_tools":[]}]},"stream":true}',
    );
  });

  test('cache breakpoints are at the end of tools, of system and on the named block', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const body = wire({
      breakpoints: [{ at: 'tools' }, { at: 'system' }, { at: 'message', message: 0, block: 0 }],
    });
    expect(body.tools).toMatchObject([{ name: 'Bash' }, { name: 'Read', ...mark }]);
    expect(body.system).toEqual([
      { type: 'text', text: 'You help.' },
      { type: 'text', text: 'Notes.', ...mark },
    ]);
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] }]);
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(3);
  });

  test('a breakpoint on thinking moves to the block before it, and there are never more than four', () => {
    const blocks = [
      { type: 'text', text: 'a' },
      { type: 'thinking', thinking: 'b', signature: 's' },
    ] as const;
    const body = wire({
      messages: [{ role: 'assistant', blocks }],
      breakpoints: Array.from({ length: 6 }, () => ({ at: 'message', message: 0, block: 1 }) as const),
    });
    expect(body.messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
          { type: 'thinking', thinking: 'b', signature: 's' },
        ],
      },
    ]);
  });

  test('blocks are sent back unchanged; opaque ones are not sent', () => {
    const raw = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } };
    const body = wire({
      messages: [
        {
          role: 'assistant',
          blocks: [
            { type: 'redacted_thinking', data: 'x' },
            { type: 'opaque', raw: { type: 'hologram' } },
            { type: 'server', raw },
            { type: 'tool_use', id: 't', name: 'Read', input: { z: 1, a: 2 } },
            { type: 'tool_use', id: 'u', name: 'Read', input: {}, unparsed: '{"a' },
            { type: 'tool_use', id: 'v', name: 'Read', input: 'text' },
          ],
        },
        {
          role: 'user',
          blocks: [
            { type: 'tool_result', tool_use_id: 't', content: 'done' },
            { type: 'tool_result', tool_use_id: 'u', content: [{ type: 'text', text: 'no' }], is_error: true },
          ],
        },
      ],
    });
    expect(JSON.stringify(body.messages)).toBe(
      JSON.stringify([
        {
          role: 'assistant',
          content: [
            { type: 'redacted_thinking', data: 'x' },
            raw,
            { type: 'tool_use', id: 't', name: 'Read', input: { z: 1, a: 2 } },
            { type: 'tool_use', id: 'u', name: 'Read', input: { unparsed: '{"a' } },
            { type: 'tool_use', id: 'v', name: 'Read', input: { value: 'text' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't', content: 'done' },
            { type: 'tool_result', tool_use_id: 'u', content: [{ type: 'text', text: 'no' }], is_error: true },
          ],
        },
      ]),
    );
  });

  test('effort becomes adaptive thinking, a budget, or nothing, as the model supports', () => {
    const adaptive = wire({ effort: 'high' });
    expect([adaptive.thinking, adaptive.output_config]).toEqual([
      { type: 'adaptive', display: 'summarized' },
      { effort: 'high' },
    ]);
    const budget = wire({ model: 'claude-haiku-4-5', effort: 'low' });
    expect([budget.thinking, budget.output_config]).toEqual([{ type: 'enabled', budget_tokens: 4096 }, undefined]);
    expect(wire({ model: 'claude-haiku-4-5', effort: 'max' }).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 6976,
    });
    for (const body of [
      wire({}),
      wire({ effort: 'high', thinkingBudgetTokens: 0 }),
      wire({ model: 'other', effort: 'high' }),
    ]) {
      expect(body).not.toHaveProperty('thinking');
      expect(body).not.toHaveProperty('output_config');
    }
  });

  test.each<[string, Effort, object]>([
    ['claude-opus-5-5', 'auto', { thinking: ADAPTIVE }],
    ['claude-opus-5-5', 'xhigh', { thinking: ADAPTIVE, output_config: { effort: 'xhigh' } }],
    ['claude-opus-5-5', 'off', { thinking: ADAPTIVE, output_config: { effort: 'low' } }],
    ['claude-sonnet-5-5', 'off', { thinking: { type: 'between_tools' } }],
    ['claude-haiku-5-5', 'off', { thinking: { type: 'disabled' } }],
    ['claude-sonnet-4-6', 'xhigh', { thinking: ADAPTIVE, output_config: { effort: 'high' } }],
    ['claude-sonnet-4-6', 'off', {}],
    ['claude-haiku-4-5', 'auto', { thinking: { type: 'enabled', budget_tokens: 10_240 } }],
    [
      'claude-opus-4-5',
      'max',
      { thinking: { type: 'enabled', budget_tokens: 16_384 }, output_config: { effort: 'high' } },
    ],
    ['other', 'auto', {}],
    ['other', 'max', {}],
  ])('%s with the effort %s is asked to think in the words it knows', (model, effort, expected) => {
    const { thinking, output_config } = wire({ model, effort, maxOutputTokens: 64_000 });
    const said = { ...(thinking && { thinking }), ...(output_config && { output_config }) };
    expect(said).toEqual(expected);
    const body = { model, max_tokens: 64_000, ...said };
    expect(violationOfThinking(body)).toBeUndefined();
  });

  test('old results are cleared by the provider where supported, except those that cannot be repeated', () => {
    const tool = (name: string) => ({ name, description: '', input_schema: { type: 'object' } });
    const once = (name: string) => ({ ...tool(name), result: 'once' as const });
    const edits = (change: Partial<ModelRequest>) => wire(change).context_management;
    expect(edits({ tools: [tool('Read'), once('Task'), once('Skill')] })).toMatchObject({
      edits: [{ exclude_tools: ['Task', 'Skill'] }],
    });
    expect(edits({ tools: [] })).toBeUndefined();
    expect(edits({ model: 'claude-next-9' })).toBeUndefined();
    expect(edits({ model: 'other' })).toBeUndefined();
  });

  test('a forced tool is requested where possible, and never together with thinking', () => {
    expect(wire({ forcedTool: 'Read', effort: 'high' })).toMatchObject({ tool_choice: { type: 'tool', name: 'Read' } });
    expect(wire({ forcedTool: 'Read', effort: 'high' })).not.toHaveProperty('thinking');
    expect(wire({ model: 'claude-opus-5-5', forcedTool: 'Read' })).not.toHaveProperty('tool_choice');
  });

  test('web search is sent only to models that support it', () => {
    const webSearch = { maxUses: 3, allowedDomains: ['a.test'] };
    expect(wire({ webSearch, tools: [] }).tools).toEqual([
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['a.test'] },
    ]);
    expect(wire({ webSearch, model: 'other', tools: [] })).not.toHaveProperty('tools');
  });
});

describe('a paused reply at the end', () => {
  const text = (words: string) => ({ type: 'text', text: words }) as const;
  const search = { type: 'server', raw: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} } } as const;

  test.each([
    [[text('I search.\n\n')], [text('I search.')]],
    [
      [text('I search. '), search],
      [text('I search. '), search.raw],
    ],
    [
      [search, text('So \t\n')],
      [search.raw, text('So')],
    ],
    [[search, text(' \n')], [search.raw]],
    [[text('One.'), text('\n'), text(' ')], [text('One.')]],
  ] as const)('goes back without blanks at its end: %j', (blocks, content) => {
    const messages = [...BASE.messages, { role: 'assistant', blocks, isPaused: true } as const];
    expect(wire({ messages }).messages).toMatchObject([{ role: 'user' }, { role: 'assistant', content }]);
    const later = wire({ messages: [...messages, ...BASE.messages] }).messages;
    expect(JSON.stringify(later)).toContain(JSON.stringify(blocks.findLast(({ type }) => type === 'text')));
  });
});

describe('serializeMessagesRequest', () => {
  test('the text has every field of the body; a message sent before is not serialized again', () => {
    const message = { role: 'user', content: [{ type: 'text', text: 'a "quoted" line\n' }] } as const;
    let reads = 0;
    const toJSON = () => {
      reads += 1;
      return { ...message, reads };
    };
    const watched = { role: 'user', content: [], toJSON };
    const fixed = {
      model: 'm',
      stream: true,
      system: [{ type: 'text', text: 'Be brief.' }],
      tools: [{ name: 'Read' }],
    };
    const body = { ...fixed, messages: [message, watched] } as unknown as JsonObject;
    const expected = { ...fixed, messages: [message, { ...message, reads: 1 }] };
    expect(JSON.parse(serializeMessagesRequest(body))).toEqual(expected);
    expect(JSON.parse(serializeMessagesRequest({ ...body, stream: false }))).toEqual({ ...expected, stream: false });
    expect(reads).toBe(1);
  });
});

describe('requestBytes', () => {
  test('equal requests are equal text; the user id is ignored, every word counts', () => {
    expect(serializeModelRequest({ ...BASE, metadataUserId: 'a' })).toBe(
      serializeModelRequest({ ...BASE, metadataUserId: 'b' }),
    );
    expect(serializeModelRequest({ ...BASE, effort: 'low' })).not.toBe(serializeModelRequest(BASE));
  });
});
