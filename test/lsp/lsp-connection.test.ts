import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import { createLspMessageDecoder, encodeLspMessage } from '../../src/lsp/lsp-connection.ts';
import { fastestMs } from '../support/fastest.ts';

function read(pieces: readonly Buffer[]) {
  const messages: JsonObject[] = [];
  const refusals: string[] = [];
  const take = createLspMessageDecoder(
    (message) => void messages.push(message),
    (why) => void refusals.push(why),
  );
  for (const piece of pieces) take(piece);
  return { messages, refusals };
}

const MESSAGES = [
  { id: 1, result: 'ä€😀' },
  { method: 'x', params: { text: 'a\r\n\r\nb' } },
  { id: 2, result: null },
];
const WHOLE = Buffer.from(`Hello.\r\n\r\n${MESSAGES.map(encodeLspMessage).join('')}`);

test.each([1, 2, 3, 7, 64, 10_000])('messages are assembled from pieces of %i bytes, after a banner', (size) => {
  const pieces = Array.from({ length: Math.ceil(WHOLE.length / size) }, (_, at) =>
    WHOLE.subarray(at * size, (at + 1) * size),
  );
  expect(read(pieces)).toEqual({ messages: MESSAGES, refusals: [] });
});

test('invalid text between two messages is skipped', () => {
  const odd = ['{', '[1]', '"x"'].map((text) => `Content-Length: ${text.length}\r\n\r\n${text}`).join('');
  const header = `Content-Type: x\r\ncontent-length:  2\r\n\r\n{}`;
  expect(read([Buffer.from(`${odd}${header}${encodeLspMessage({ id: 3 })}`)]).messages).toEqual([{}, { id: 3 }]);
});

test('a server that floods is not read any further', () => {
  const stray = read([Buffer.alloc(600_000, 'x'), Buffer.alloc(600_000, 'x')]);
  expect(stray.refusals).toEqual(['printed more than 1 MB that is not a message']);
  const huge = read([Buffer.from('Content-Length: 999999999999\r\n\r\n')]);
  expect(huge.refusals).toEqual(['sent a message of more than 64 MB']);
});

test('a message in many pieces is joined once, not with every piece', () => {
  const text = encodeLspMessage({ text: 'x'.repeat(20_000_000) });
  const whole = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(whole.length / 8192) }, (_, at) =>
    whole.subarray(at * 8192, (at + 1) * 8192),
  );
  expect(fastestMs(10_000, () => expect(read(pieces).messages).toHaveLength(1))).toBeLessThan(10_000);
});
