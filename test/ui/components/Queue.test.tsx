import { expect, test } from 'vitest';
import type { QueuedMessage } from '../../../src/contracts/event.ts';
import { Queue } from '../../../src/ui/components/Queue.tsx';
import { renderPart } from './render-part.tsx';

const queued = (id: string, lane: QueuedMessage['lane'], text: string): QueuedMessage => ({
  id,
  lane,
  message: { role: 'user', id, origin: 'follow_up', blocks: [{ type: 'text', text }] },
});

test('each message says when it will be heard, the last one how to get it back', () => {
  const queue = [queued('1', 'next', 'fix the lexer'), queued('2', 'after', 'then the docs')];
  expect(renderPart(<Queue queue={queue} />, { width: 120 })).toEqual([
    '↳ fix the lexer      after this tool',
    '↳ then the docs      when it has finished     ↑ edits, ctrl+x ctrl+d drops',
  ]);
});

test('where there is little room the words give way, not what becomes of them', () => {
  const queue = [queued('1', 'next', 'fix the lexer and then all of the parser')];
  expect(renderPart(<Queue queue={queue} />, { width: 40 })).toEqual(['↳ fix the lexer …      after this tool']);
});
