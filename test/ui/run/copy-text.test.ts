import { expect, test } from 'vitest';
import { copyAnswer } from '../../../src/ui/run/copy-text.ts';
import { effectHost } from './effect-host.ts';

const FENCED = 'Look:\n\n```ts\nconst a = 1;\nconst b = 2;\n```\n\nThat is all.';

function copied(argument: string, ...answers: readonly string[]) {
  const host = effectHost(
    answers.map((text, at) => ({ role: 'assistant', id: `m${at}`, model: 'm', blocks: [{ type: 'text', text }] })),
  );
  return copyAnswer(argument, host).then(() => {
    const base64 = /\x1b\]52;c;([^\x07]*)\x07/.exec(host.written())?.[1];
    return { text: base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString(), told: host.told() };
  });
}

test('the last answer is offered to the terminal, and where it went is said', async () => {
  const { text, told } = await copied('', 'first', 'second 中文');
  expect(text).toBe('second 中文');
  expect(told).toMatch(/^Copied 9 characters /);
});

test('an earlier answer is named by its number, code by its name', async () => {
  expect((await copied('2', 'first', 'second')).text).toBe('first');
  expect((await copied('code', FENCED, 'no code here')).text).toBe('const a = 1;\nconst b = 2;');
  expect((await copied('code', 'nothing')).told).toBe('No answer has code in it yet.');
  expect((await copied('7', 'only one')).told).toBe('There is no such answer yet.');
});
