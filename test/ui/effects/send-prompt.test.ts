import { expect, test } from 'vitest';
import { runUiEffect } from '../../../src/ui/effects/run-ui-effect.ts';
import { effectHost } from './test-host.ts';

test('a message with missing mentions is returned once, and sent on the second Enter', async () => {
  const asked: string[] = [];
  const host = effectHost([], {
    more: {
      listUnresolvedMentions: async (words) => (words.includes('@gone') ? ['@gone.md was not found.'] : []),
      expandPrompt: async (words) => {
        asked.push(words);
        return words;
      },
    },
  });
  const send = (text: string) => runUiEffect({ type: 'prompt', parts: [{ kind: 'text', text }] }, host);
  await send('read @gone.md');
  expect(asked).toEqual([]);
  expect(host.getView().editor.text).toBe('read @gone.md');
  expect(host.reported()).toBe('@gone.md was not found. Change the message, or press enter to send it anyway.');
  await send('read @gone.md');
  await send('read on');
  expect(asked).toEqual(['read @gone.md', 'read on']);
});
