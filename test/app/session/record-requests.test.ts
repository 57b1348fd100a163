import { expect, test } from 'vitest';
import type { ModelRequest, RequestMessage } from '../../../src/contracts/model.ts';
import { requestBytes, requestPieces } from '../../../src/model/wire/to-wire.ts';
import { createDigester, digestOf } from '../../../src/session/request-digest.ts';

const says = (text: string): RequestMessage => ({ role: 'assistant', blocks: [{ type: 'text', text }] });
const asks = (...texts: readonly string[]) => ({
  role: 'user' as const,
  blocks: texts.map((text) => ({ type: 'text' as const, text })),
});

function request(messages: readonly RequestMessage[], more: Partial<ModelRequest> = {}): ModelRequest {
  const tools = [{ name: 'Read', description: 'reads "files"', input_schema: { type: 'object' } }];
  const system = [{ name: 'main', text: 'Be brief.' }];
  const breakpoints = [{ at: 'tools' }, { at: 'message', message: messages.length - 1, block: 0 }] as const;
  return { model: 'm', maxOutputTokens: 10, system, tools, messages, breakpoints, effort: 'low', ...more };
}

test('the hashes of a request are the same whether it is gone through whole or continued from the one before', () => {
  const [hi, reply, on] = [asks('hi', 'é…"\\'), says('hello'), asks('go on')];
  const digest = createDigester();
  const sent = [
    request([hi]),
    request([hi, reply, on]),
    // The same blocks in new messages, and words that joined the last one.
    request([{ ...hi }, { ...reply }, { ...on, blocks: [...on.blocks, ...asks('and on').blocks] }]),
    request([hi, says('hello'), on, says('more'), asks('x')], { effort: 'high' }),
    request([hi, reply, asks('other'), says('y'), asks('z')]),
    request([hi, reply, asks('other')], { thinkingBudgetTokens: 5, betas: ['b'] }),
    request([asks('summary')]),
    request([]),
    request([asks('summary'), says('fine'), asks('next')]),
  ];
  for (const each of sent) expect(digest(requestPieces(each))).toEqual(digestOf(requestBytes(each)));
});

test('what a model wrote is hashed however deep it is nested', () => {
  const deep = `${'['.repeat(15_000)}${']'.repeat(15_000)}`;
  const bytes = `{"model":"m","system":[],"tools":[],"messages":[{"role":"assistant","content":${deep}}]}`;
  expect(digestOf(bytes).messages).toHaveLength(1);
});
