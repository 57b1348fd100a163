import { expect, test } from 'vitest';
import { copyAnswer } from '../../../src/ui/effects/clipboard.ts';
import { effectHost } from './test-host.ts';

const FENCED = 'Look:\n\n```ts\nconst a = 1;\nconst b = 2;\n```\n\nThat is all.';

function copied(argument: string, ...answers: readonly string[]) {
  const host = effectHost(
    answers.map((text, at) => ({ role: 'assistant', id: `m${at}`, model: 'm', blocks: [{ type: 'text', text }] })),
  );
  return copyAnswer(argument, host).then(() => {
    const base64 = /\x1b\]52;c;([^\x07]*)\x07/.exec(host.written())?.[1];
    return {
      text: base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString(),
      reported: host.reported(),
    };
  });
}

test('the last answer is copied through the terminal, and a report is printed', async () => {
  const { text, reported } = await copied('', 'first', 'second 中文');
  expect(text).toBe('second 中文');
  expect(reported).toMatch(/^Copied 9 characters /);
});

test('an earlier answer is selected by its number, the last code block by `code`', async () => {
  expect((await copied('2', 'first', 'second')).text).toBe('first');
  expect((await copied('code', FENCED, 'no code here')).text).toBe('const a = 1;\nconst b = 2;');
  expect((await copied('code', 'nothing')).reported).toBe('No reply contains a code block yet.');
  expect((await copied('7', 'only one')).reported).toBe('There is no such reply yet.');
});

test('inside tmux the sequence is wrapped if tmux allows passthrough; a copy that tmux blocks is reported', async () => {
  const outerTerminal = { name: 'xterm', program: '' };
  const host = effectHost([{ role: 'assistant', id: 'm', model: 'm', blocks: [{ type: 'text', text: 'words' }] }]);
  await copyAnswer('', {
    ...host,
    tmux: async () => ({ allowsPassthrough: true, setsClipboard: false, outerTerminal }),
  });
  expect(host.written()).toBe('\x1bPtmux;\x1b\x1b]52;c;d29yZHM=\x07\x1b\\');
  const kept = effectHost([{ role: 'assistant', id: 'm', model: 'm', blocks: [{ type: 'text', text: 'words' }] }]);
  await copyAnswer('', {
    ...kept,
    tmux: async () => ({ allowsPassthrough: false, setsClipboard: false, outerTerminal }),
  });
  expect(kept.written()).toBe('\x1b]52;c;d29yZHM=\x07');
  expect(kept.reported()).toMatch(/with \S+ and through the terminal|set -g set-clipboard on/);
});
