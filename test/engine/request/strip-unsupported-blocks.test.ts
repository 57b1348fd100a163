import { expect, test } from 'vitest';
import type { AssistantBlock } from '../../../src/contracts/message.ts';
import { stripUnsupportedBlocks } from '../../../src/engine/request/rejected-parts.ts';

const THOUGHT: AssistantBlock = { type: 'thinking', thinking: 'Hm', signature: 'reasoning_content' };
const CALL: AssistantBlock = { type: 'tool_use', id: 'c1', name: 'Read', input: {} };
const SIGNED: AssistantBlock = { ...CALL, signature: 's' };

function sentTo(model: string, thinking: boolean, ...blocks: readonly AssistantBlock[]) {
  const message = { role: 'assistant', id: 'm', model: 'a', blocks } as const;
  const [left] = stripUnsupportedBlocks([message], model, { thinking, images: undefined, refused: [] });
  return left !== undefined && 'blocks' in left ? left.blocks : [];
}

test('thinking and signatures are sent only to the model that wrote them, and not after a rejection', () => {
  expect([
    sentTo('a', false, THOUGHT, SIGNED),
    sentTo('b', false, THOUGHT, SIGNED),
    sentTo('a', true, THOUGHT, SIGNED),
    sentTo('b', false, CALL),
  ]).toEqual([[THOUGHT, SIGNED], [CALL], [CALL], [CALL]]);
});
