import type { Message } from '@ouro-cli/ouro/sessions';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { createConversationBuilder, createImageBlock } from '../../src/sessions/foreign-session.ts';

const id = fc.constantFrom('a', 'b', 'a b', '');
const step = fc.oneof(
  fc.record({ kind: fc.constant('prompt' as const) }),
  fc.record({ kind: fc.constant('text' as const), model: fc.constantFrom('m', 'n') }),
  fc.record({ kind: fc.constant('call' as const), id, model: fc.constantFrom('m', 'n') }),
  fc.record({ kind: fc.constant('result' as const), id }),
  fc.record({ kind: fc.constant('clear' as const) }),
);

function listCalls(message: Message | undefined): readonly string[] {
  return message?.role === 'assistant'
    ? message.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    : [];
}

function listResults(message: Message | undefined): readonly string[] {
  return message?.role === 'user'
    ? message.blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
    : [];
}

test('whatever the order of a file is, each call has its own id and is followed by exactly one result', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const builder = createConversationBuilder('s');
      for (const one of steps) {
        if (one.kind === 'prompt') builder.addPrompt([{ type: 'text', text: 'p' }]);
        if (one.kind === 'text') builder.addText(one.model, 't');
        if (one.kind === 'call') builder.addCall(one.model, { id: one.id, name: 'do it', input: {} });
        if (one.kind === 'result') builder.addResult(one.id, 'r');
        if (one.kind === 'clear') builder.clear();
      }
      const { messages } = builder.build();
      const calls = messages.flatMap(listCalls);
      expect(new Set(calls).size).toBe(calls.length);
      for (const call of calls) expect(call).toMatch(/^[\w-]{1,64}$/);
      for (const [at, message] of messages.entries()) {
        expect(listResults(messages[at + 1])).toEqual(listCalls(message));
        if (at === 0) expect(listResults(message)).toEqual([]);
      }
    }),
    runs(2_000),
  );
});

test('calls in a row belong to one reply; after their results the next one begins', () => {
  const builder = createConversationBuilder('s');
  builder.addText('m', 'I look.');
  builder.addCall('m', { id: '1', name: 'read', input: { path: 'a' } });
  builder.addCall('m', { id: '2', name: 'read', input: { path: 'b' } });
  builder.addResult('2', 'B', { isError: true });
  builder.addResult('1', 'A');
  builder.addText('m', 'Done.');
  builder.countLoss('attachment', 2);
  const { messages, lost } = builder.build();
  expect(messages.map(({ role, ...message }) => [role, 'blocks' in message ? message.blocks.length : 0])).toEqual([
    ['assistant', 3],
    ['user', 2],
    ['assistant', 1],
  ]);
  expect(listResults(messages[1])).toEqual(['1', '2']);
  expect(lost).toEqual(['2 attachments']);
});

test('an image is taken from base64 or a data URL; an address or another type is not', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
  expect(createImageBlock('image/png', 'AAAA')).toEqual({ type: 'image', source });
  expect(createImageBlock('', 'data:image/png;base64,AAAA')).toEqual({ type: 'image', source });
  expect(createImageBlock('', 'https://example.com/a.png')).toBeUndefined();
  expect(createImageBlock('application/pdf', 'AAAA')).toBeUndefined();
});
