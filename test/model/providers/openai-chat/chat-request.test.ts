import { expect, test } from 'vitest';
import type { AssistantBlock } from '../../../../src/contracts/message.ts';
import {
  buildChatRequest,
  DEFAULT_CHAT_VARIANT,
} from '../../../../src/model/providers/openai-chat/openai-chat-port.ts';
import { REQUEST } from '../../support.ts';

function sent(...blocks: readonly AssistantBlock[]) {
  const request = { ...REQUEST, system: [], messages: [{ role: 'assistant', blocks } as const] };
  return buildChatRequest(request, DEFAULT_CHAT_VARIANT).messages;
}

const call = { type: 'tool_use', id: 'c1', name: 'Read', input: { path: 'a' } } as const;
const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'Read', arguments: '{"path":"a"}' } }];
const thought = (signature: string): AssistantBlock => ({ type: 'thinking', thinking: 'Hm', signature });

test('reasoning is sent back with its call, in its original field, and with nothing else', () => {
  expect([
    sent(thought('reasoning_content'), call),
    sent(thought('reasoning'), call),
    sent(thought('sig_of-Another=='), call),
    sent(thought(''), call),
    sent(thought('reasoning_content'), { type: 'text', text: 'Yes' }),
  ]).toEqual([
    [{ role: 'assistant', content: null, reasoning_content: 'Hm', tool_calls }],
    [{ role: 'assistant', content: null, reasoning: 'Hm', tool_calls }],
    [{ role: 'assistant', content: null, tool_calls }],
    [{ role: 'assistant', content: null, tool_calls }],
    [{ role: 'assistant', content: 'Yes' }],
  ]);
});

test('signed content is sent back in its place: at its call, or as details of the message', () => {
  const extra_content = { google: { thought_signature: 's' } };
  const details = [{ type: 'reasoning.encrypted', data: 'x' }];
  expect([
    sent({ ...call, signature: JSON.stringify({ extra_content }) }),
    sent(thought('reasoning'), { ...call, signature: JSON.stringify({ reasoning_details: details }) }),
    sent({ ...call, signature: 'not ours' }),
  ]).toEqual([
    [{ role: 'assistant', content: null, tool_calls: [{ ...tool_calls[0], extra_content }] }],
    [{ role: 'assistant', content: null, reasoning_details: details, tool_calls }],
    [{ role: 'assistant', content: null, tool_calls }],
  ]);
});
