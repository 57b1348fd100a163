import { expect, test } from 'vitest';
import type { QueuedMessage } from '../../../../src/contracts/event.ts';
import { QueuedMessageList } from '../../../../src/ui/widgets/composer/QueuedMessageList.tsx';
import { renderPart } from '../screen/render-part.tsx';

const queued = (id: string, lane: QueuedMessage['lane'], text: string): QueuedMessage => ({
  id,
  lane,
  message: { role: 'user', id, origin: 'follow_up', blocks: [{ type: 'text', text }] },
});

test('each message says when it is delivered, the last one how to get it back', () => {
  const queue = [queued('1', 'next', 'fix the lexer'), queued('2', 'after', 'then the docs')];
  expect(renderPart(<QueuedMessageList queue={queue} />, { width: 120 })).toEqual([
    '↳ fix the lexer      after this tool',
    '↳ then the docs      when the turn ends     ↑ edits, ctrl+x ctrl+d removes',
  ]);
});

test('in little space the text is cut, not the delivery', () => {
  const queue = [queued('1', 'next', 'fix the lexer and then all of the parser')];
  expect(renderPart(<QueuedMessageList queue={queue} />, { width: 40 })).toEqual([
    '↳ fix the lexer …      after this tool',
  ]);
});
