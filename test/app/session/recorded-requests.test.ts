import { expect, test } from 'vitest';
import type { ModelRequest, RequestMessage } from '../../../src/contracts/model.ts';
import {
  serializeModelRequest,
  serializeModelRequestParts,
} from '../../../src/model/providers/anthropic/messages-request.ts';
import { createRequestDigester, digestRequest } from '../../../src/session/request-digest.ts';

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

test('request hashes are equal whether computed in full or incrementally', () => {
  const [hi, reply, on] = [asks('hi', 'é…"\\'), says('hello'), asks('go on')];
  const digest = createRequestDigester();
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
  for (const each of sent)
    expect(digest(serializeModelRequestParts(each))).toEqual(digestRequest(serializeModelRequest(each)));
});

test('content of a model is hashed however deeply it is nested', () => {
  const deep = `${'['.repeat(15_000)}${']'.repeat(15_000)}`;
  const bytes = `{"model":"m","system":[],"tools":[],"messages":[{"role":"assistant","content":${deep}}]}`;
  expect(digestRequest(bytes).messages).toHaveLength(1);
});
