import { expect, test } from 'vitest';
import { runEffect } from '../../../src/ui/effects/run-effect.ts';
import { effectHost } from './test-host.ts';

test('words that name something in vain come back once, and go when they are sent again', async () => {
  const asked: string[] = [];
  const host = effectHost([], {
    more: {
      unfoundMentions: async (words) => (words.includes('@gone') ? ['@gone.md names no file here.'] : []),
      expandPrompt: async (words) => {
        asked.push(words);
        return words;
      },
    },
  });
  const send = (text: string) => runEffect({ type: 'prompt', parts: [{ kind: 'text', text }] }, host);
  await send('read @gone.md');
  expect(asked).toEqual([]);
  expect(host.now().editor.text).toBe('read @gone.md');
  expect(host.told()).toBe('@gone.md names no file here. Change the message, or press enter to send it as it is.');
  await send('read @gone.md');
  await send('read on');
  expect(asked).toEqual(['read @gone.md', 'read on']);
});
