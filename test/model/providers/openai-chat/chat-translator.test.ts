import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AssistantBlock } from '../../../../src/contracts/message.ts';
import { createChatTranslator } from '../../../../src/model/providers/openai-chat/chat-translator.ts';
import { startModelAttempt } from '../../../../src/model/stream/model-attempt.ts';
import { readReply } from '../../../../src/model/stream/read-reply.ts';
import { runs } from '../../../support/runs.ts';

const TOOLS = new Map(['Read', 'Bash'].map((name) => [name, name]));

/** Reads a body as the port does. */
async function read(body: string, type = 'text/event-stream') {
  const attempt = startModelAttempt({ headerTimeoutMs: 5000, idleTimeoutMs: 5000 }, new AbortController().signal);
  let ids = 0;
  const newId = () => `new${++ids}`;
  const response = new Response(body, { headers: { 'content-type': type } });
  const options = { restartable: () => true, overloadLimit: 1 };
  const parts = { reader: createChatTranslator(newId, TOOLS), model: 'm', newId, attempt, options };
  try {
    const events = readReply(response, parts);
    let step = await events.next();
    while (step.done !== true) step = await events.next();
    return step.value;
  } finally {
    attempt.close();
  }
}

const sse = (...events: readonly unknown[]) =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
const delta = (fields: object, finish_reason: string | null = null) => ({
  id: 'r1',
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const said = (...texts: readonly string[]) =>
  sse(...texts.map((content) => delta({ content })), delta({}, 'stop'), '[DONE]');
const calls = (...pieces: readonly (readonly object[])[]) =>
  sse(...pieces.map((tool_calls) => delta({ tool_calls })), delta({}, 'tool_calls'), '[DONE]');
const fn = (name: string, args: unknown, more: object = {}) => ({ ...more, function: { name, arguments: args } });

const text = (words: string): AssistantBlock => ({ type: 'text', text: words });
const thinking = (words: string, signature = ''): AssistantBlock => ({ type: 'thinking', thinking: words, signature });
const called = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
const someId = expect.any(String);
const READ = called(someId, 'Read', { path: 'a' });
const BASH = called(someId, 'Bash', { command: 'ls' });

/** How each server says it, as recorded or documented, and the blocks that are meant. */
const REPLIES: readonly (readonly [string, string, readonly unknown[]])[] = [
  [
    'DeepSeek: thoughts in a field of their own',
    sse(
      delta({ role: 'assistant', content: null, reasoning_content: 'Hm' }),
      delta({ content: null, reasoning_content: '.' }),
      delta({ content: 'Yes', reasoning_content: null }),
      { ...delta({ content: '' }, 'stop'), usage: { prompt_tokens: 10, completion_tokens: 2 } },
      '[DONE]',
    ),
    [thinking('Hm.', 'reasoning_content'), text('Yes')],
  ],
  [
    'Groq, Cerebras, vLLM: another field, an empty one beside it',
    sse(
      delta({ reasoning: 'Hm.', reasoning_content: '' }),
      delta({ content: 'Yes' }),
      { ...delta({}, 'stop'), x_groq: { usage: { prompt_tokens: 1, completion_tokens: 1 } } },
      '[DONE]',
    ),
    [thinking('Hm.', 'reasoning'), text('Yes')],
  ],
  [
    'Mistral: content as a list, thoughts as a list in it',
    sse(
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      delta({
        content: [
          { type: 'text', text: 'Ye' },
          { type: 'reference', reference_ids: [1] },
        ],
      }),
      delta({ content: ['s'] }),
      delta({ content: '' }, 'stop'),
      '[DONE]',
    ),
    [thinking('Hm.'), text('Yes')],
  ],
  [
    'Gemini: a signature with the call, no number, the reason stop',
    sse(
      delta({
        tool_calls: [fn('Read', '{"path":"a"}', { id: 'c1', extra_content: { google: { thought_signature: 's1' } } })],
      }),
      delta({}, 'stop'),
      '[DONE]',
    ),
    [{ ...called('c1', 'Read', { path: 'a' }), signature: '{"extra_content":{"google":{"thought_signature":"s1"}}}' }],
  ],
  [
    'OpenRouter: reasoning with details in pieces, for the call',
    sse(
      ': OPENROUTER PROCESSING',
      delta({ reasoning: 'H', reasoning_details: [{ type: 'reasoning.text', text: 'H', index: 0 }] }),
      delta({ reasoning: 'm', reasoning_details: [{ type: 'reasoning.text', text: 'm', index: 0, signature: 's' }] }),
      delta({ tool_calls: [fn('Read', '{"path":"a"}', { index: 0, id: 'c1' })] }),
      delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'xx', id: 'c1', index: 1 }] }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
    [
      thinking('Hm', 'reasoning'),
      {
        ...called('c1', 'Read', { path: 'a' }),
        signature: JSON.stringify({
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm', index: 0, signature: 's' },
            { type: 'reasoning.encrypted', data: 'xx', id: 'c1', index: 1 },
          ],
        }),
      },
    ],
  ],
  [
    'Ollama: all calls are number 0',
    calls(
      [fn('Read', '{"path":"a"}', { index: 0, id: 'c1' })],
      [fn('Bash', '{"command":"ls"}', { index: 0, id: 'c2' })],
    ),
    [READ, BASH],
  ],
  [
    'calls without ids and numbers, one after the other',
    calls([fn('Read', '{"path":"a"}')], [fn('Bash', '{"command":"ls"}')]),
    [READ, BASH],
  ],
  [
    'calls without ids and numbers, at once',
    calls([fn('Read', '{"path":"a"}'), fn('Bash', '{"command":"ls"}')]),
    [READ, BASH],
  ],
  [
    'the same tool twice without ids',
    calls([fn('Read', '{"path":"a"}')], [fn('Read', '{"path":"b"}')]),
    [READ, called(someId, 'Read', { path: 'b' })],
  ],
  ['inputs as objects', calls([fn('Read', { path: 'a' }, { index: 0, id: 'c1' })]), [READ]],
  [
    'the name again with each piece',
    calls(
      [fn('Read', '', { index: 0, id: 'c1' })],
      [fn('Read', '{"path":', { index: 0, id: 'c1' })],
      [fn('Read', '"a"}', { index: 0, id: 'c1' })],
    ),
    [READ],
  ],
  [
    'the whole call once more',
    calls([fn('Read', '{"path":"a"}', { index: 0, id: 'c1' })], [fn('Read', '{"path":"a"}', { index: 0, id: 'c1' })]),
    [READ],
  ],
  [
    'one call as before there were lists',
    sse(
      delta({ function_call: { name: 'Read', arguments: '{"path":' } }),
      delta({ function_call: { arguments: '"a"}' } }),
      delta({}, 'function_call'),
      '[DONE]',
    ),
    [READ],
  ],
  [
    'Azure: the first chunk has no choices',
    sse({ id: '', choices: [], prompt_filter_results: [] }, delta({ content: 'Yes' }), delta({}, 'stop'), '[DONE]'),
    [text('Yes')],
  ],
  ['no choices at all', sse({ id: 'r1', choices: [] }, '[DONE]'), []],
  ['a reason nobody knows', sse(delta({ content: 'Yes' }, 'eos_token_of_tomorrow')), [text('Yes')]],
  [
    'Hermes: a call among the words',
    said('Let me look.\n', '<tool', '_call>\n{"name": "Read", "argum', 'ents": {"path": "a"}}\n</tool_call>'),
    [text('Let me look.\n'), READ],
  ],
  [
    'Hermes: several, the last without its end',
    said(
      '<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>\n<tool_call>{"name":"Bash","arguments":"{\\"command\\":\\"ls\\"}"}',
    ),
    [READ, BASH],
  ],
  [
    'Qwen: a call in tags',
    said('<tool_call>\n<function=Read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>'),
    [READ],
  ],
  [
    'Qwen: the envelope left out',
    said('<function=Bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>'),
    [BASH],
  ],
  ['Mistral: calls behind a mark', said('[TOOL_CALLS][{"name": "Read", "arguments": {"path": "a"}}]'), [READ]],
  [
    'Mistral: names before inputs',
    said('[TOOL_CALLS]Read[ARGS]{"path": "a"}[TOOL_CALLS]Bash{"command":"ls"}'),
    [READ, BASH],
  ],
  [
    'Llama: behind its mark, with parameters',
    said('<|python_tag|>{"type":"function","name":"Read","parameters":{"path":"a"}}<|eom_id|>'),
    [READ],
  ],
  [
    'Harmony: thoughts, then a call',
    said(
      '<|channel|>analysis<|message|>Need it.<|end|><|start|>assistant<|channel|>commentary to=functions.Read <|constrain|>json<|message|>{"path":"a"}<|call|>',
    ),
    [READ],
  ],
  [
    'Harmony: an answer',
    said('<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes<|return|>'),
    [text('Yes')],
  ],
  [
    'Kimi: calls in a section',
    said(
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.Read:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_calls_section_end|>',
    ),
    [READ],
  ],
  [
    'thoughts before a call in the words',
    said('<think>Hm.</think>\n<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>'),
    [thinking('Hm.'), READ],
  ],
  [
    'a call told twice, in the words and as a call',
    sse(
      delta({ content: '<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>' }),
      delta({ tool_calls: [fn('Read', '{"path":"a"}', { index: 0, id: 'c1' })] }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
    [called('c1', 'Read', { path: 'a' })],
  ],
  ['Magistral: thoughts in brackets', said('[THI', 'NK]Hm.[/TH', 'INK]Yes'), [thinking('Hm.'), text('Yes')]],
  ['Gemma: thoughts under another name', said('<thought>Hm.</thought>Yes'), [thinking('Hm.'), text('Yes')]],
  [
    'several choices, of which the first is another',
    sse(
      { id: 'r1', choices: [1, 0].map((index) => ({ index, delta: { content: index === 0 ? 'Yes' : 'No' } })) },
      delta({}, 'stop'),
      '[DONE]',
    ),
    [text('Yes')],
  ],
  ['an end of thoughts that began in the prompt', said('</think>\n\nYes'), [text('Yes')]],
];

/** Words that are about calls are words. */
const EXAMPLES = [
  'Write `<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>` to read.',
  'It looks like this:\n<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>\nDo you see?',
  'Like this:\n```\n<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>\n```',
  'Like this:\n```\n<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>',
  '<tool_call>{"name":"Launch","arguments":{}}</tool_call>',
  '<tool_call>{"name":"Read","arguments":{"path":</tool_call>',
  '<function=Read> is a tag',
  '[TOOL_CALLS] is a mark of Mistral',
  '<|channel|> is a mark of Harmony',
  '<',
  '[',
  '  \n<tool',
  '``',
];

/** Failures that come with a 200, and the kind each is. */
const FAILURES: readonly (readonly [unknown, string])[] = [
  [{ error: { code: 429, message: 'slow down' } }, 'rate_limited'],
  [{ error: { code: 'context_length_exceeded', message: 'long' } }, 'too_long'],
  [{ error: 'the model runner stopped' }, 'server'],
  [[{ error: { code: 400, message: 'API key not valid', status: 'INVALID_ARGUMENT' } }], 'auth'],
  [{ object: 'error', message: 'The model `x` does not exist.', code: 404 }, 'not_found'],
  [{ detail: 'the model runner stopped' }, 'server'],
  [delta({ content: '' }, 'error'), 'server'],
  [{ id: 'r', choices: [{ delta: {}, finish_reason: 'error', error: { code: 502, message: 'upstream' } }] }, 'server'],
  [delta({}, 'insufficient_system_resource'), 'overloaded'],
];

describe('a reply of chat completions', () => {
  test.each(REPLIES)('%s', async (_, body, blocks) => {
    const outcome = await read(body);
    const isCall = blocks.some((block) => JSON.stringify(block).includes('tool_use'));
    expect(outcome).toMatchObject({ ok: true, message: { blocks }, stopReason: isCall ? 'tool_use' : 'end_turn' });
    expect(outcome.ok && outcome.message.blocks.length).toBe(blocks.length);
  });

  test.each(EXAMPLES)('%j stays text', async (words) => {
    expect(await read(said(words))).toMatchObject({ ok: true, message: { blocks: [text(words)] } });
  });

  test('calls inside the text are found wherever chunks are split', async () => {
    const words = 'Look:\n\n<tool_call>\n{"name":"Read","arguments":{"path":"a"}}\n</tool_call>\n';
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: words.length }), { maxLength: 8 }), async (cuts) => {
        const ends = [...new Set([...cuts, words.length])].sort((a, b) => a - b);
        const pieces = ends.map((end, at) => words.slice(ends[at - 1] ?? 0, end));
        expect(await read(said(...pieces))).toMatchObject({
          message: { blocks: [{ type: 'text', text: expect.stringMatching(/^Look:\n+$/) }, READ] },
        });
      }),
      runs(300),
    );
  });

  test.each(FAILURES)('%j is a failure', async (chunk, kind) => {
    expect(await read(sse(chunk, '[DONE]'))).toMatchObject({ ok: false, failure: { kind } });
  });

  test('may be complete, where a server does not stream', async () => {
    const message = { role: 'assistant', content: 'Look', tool_calls: [fn('Read', '{"path":"a"}', { id: 'c1' })] };
    const usage = { prompt_tokens: 9, completion_tokens: 2, cached_tokens: 4 };
    const body = JSON.stringify({ id: 'r1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage });
    expect(await read(body, 'application/json')).toMatchObject({
      ok: true,
      message: { blocks: [text('Look'), READ], usage: { inputTokens: 5, cacheReadTokens: 4, outputTokens: 2 } },
    });
  });

  test.each([
    [{ usage: { prompt_tokens: 9, prompt_cache_hit_tokens: 8, completion_tokens: 1 } }, 8],
    [
      {
        choices: [
          { delta: {}, finish_reason: 'stop', usage: { prompt_tokens: 9, cached_tokens: 7, completion_tokens: 1 } },
        ],
      },
      7,
    ],
    [{ x_groq: { usage: { prompt_tokens: 9, completion_tokens: 1 } } }, 0],
  ])('tells what was used as %j', async (chunk, cached) => {
    const outcome = await read(
      sse(delta({ content: 'Yes' }), { choices: [{ delta: {} }], ...chunk }, delta({}, 'stop')),
    );
    const usage = { inputTokens: 9 - cached, cacheReadTokens: cached, cacheWriteTokens: 0, outputTokens: 1 };
    expect(outcome).toMatchObject({ ok: true, usage });
  });
});
