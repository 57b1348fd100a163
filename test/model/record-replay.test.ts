import { describe, expect, test } from 'vitest';
import type { ModelOutcome, ModelPort, ModelRequest } from '../../src/contracts/model.ts';
import { askSmallModel } from '../../src/model/ask-small-model.ts';
import { createReplayPort, type Exchange, withRecord } from '../../src/model/record-replay.ts';
import { drain, REQUEST, reply } from './support.ts';

/** A port that answers with its request's last words in capitals. */
const shouting: ModelPort = {
  name: 'shouting',
  async *stream(request) {
    const block = request.messages.at(-1)?.blocks[0];
    const text = block?.type === 'text' ? block.text.toUpperCase() : '';
    yield { type: 'text_delta', index: 0, text };
    return reply(text);
  },
};

function asking(text: string): ModelRequest {
  return { ...REQUEST, messages: [{ role: 'user', blocks: [{ type: 'text', text }] }] };
}

async function record(...texts: string[]): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  const port = withRecord(shouting, (exchange) => exchanges.push(exchange));
  for (const text of texts) await drain(port, { request: asking(text) });
  return exchanges;
}

describe('replay', () => {
  test('returns every recorded reply, event by event, also in another order and from JSON', async () => {
    const stored: readonly Exchange[] = JSON.parse(JSON.stringify(await record('one', 'two', 'two')));
    const port = createReplayPort(stored);
    for (const text of ['two', 'one', 'two']) {
      expect(await drain(port, { request: asking(text) })).toEqual({
        events: [{ type: 'text_delta', index: 0, text: text.toUpperCase() }],
        outcome: reply(text.toUpperCase()),
      });
    }
  });

  test('a different request is reported with the first difference', async () => {
    const port = createReplayPort(await record('the quick fox'));
    const { outcome } = await drain(port, { request: asking('the quick dog') });
    const message = outcome.ok ? '' : outcome.failure.message;
    expect(message).toMatch(
      /^Request 1 differs from the record at character \d+\. Recorded: .*quick fox.*Now: .*quick dog/,
    );
  });

  test('an extra request is reported', async () => {
    expect(await drain(createReplayPort([]))).toMatchObject({
      outcome: {
        ok: false,
        failure: { kind: 'invalid', message: 'Request 1 is not in the record: all recorded replies are used.' },
      },
    });
  });
});

describe('askSmallModel', () => {
  const question = { model: 'small', system: 'Be short.', prompt: ' name it ' };
  const signal = new AbortController().signal;
  const answering = (outcome: ModelOutcome): ModelPort => ({
    name: 'x',
    async *stream() {
      yield { type: 'request_sent', attempt: 1 };
      return outcome;
    },
  });

  test('answers with trimmed text', async () => {
    const reported: string[] = [];
    const onUsage = (model: string) => void reported.push(model);
    expect(await askSmallModel(shouting, { ...question, onUsage }, signal)).toBe('NAME IT');
    expect(reported).toEqual(['small']);
  });

  test('without a small model, after an abort, on failure, on silence and on a crash there is no answer', async () => {
    const crashing: ModelPort = {
      name: 'crash',
      stream() {
        throw new Error('bug');
      },
    };
    expect([
      await askSmallModel(shouting, { ...question, model: undefined }, signal),
      await askSmallModel(shouting, question, AbortSignal.abort()),
      await askSmallModel(answering({ ok: false, failure: { kind: 'auth', message: '' } }), question, signal),
      await askSmallModel(answering(reply('  ')), question, signal),
      await askSmallModel(crashing, question, signal),
    ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });
});
