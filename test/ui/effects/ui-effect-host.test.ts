import { expect, test } from 'vitest';
import { createOperationSequencer } from '../../../src/ui/effects/ui-effect-host.ts';

test('messages are sent in order, however long mentions take to read, and a failure delays none', async () => {
  const inOrder = createOperationSequencer();
  const slow = Promise.withResolvers<string>();
  const came: string[] = [];
  const note = (words: string) => came.push(words);
  const all = [
    inOrder(slow.promise).then(note),
    inOrder(Promise.reject(new Error('unreadable'))).catch(() => note('failed')),
    inOrder(Promise.resolve('third')).then(note),
  ];
  await Promise.resolve();
  expect(came).toEqual([]);
  slow.resolve('first');
  await Promise.all(all);
  expect(came).toEqual(['first', 'failed', 'third']);
});
