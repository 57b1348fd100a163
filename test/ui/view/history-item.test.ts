import { expect, test } from 'vitest';
import { statusFactsOf } from '../../../src/ui/effects/facts.ts';
import { waitingItems } from '../../../src/ui/view/history-item.ts';
import { initialView, printing } from '../../../src/ui/view/view-state.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';

const MANY = 3000;
const notice = (text: string) => ({ kind: 'notice', level: 'info', text }) as const;

test('what waits to be printed comes out in its order, and more of it copies nothing that waits already', () => {
  let view = initialView(statusFactsOf(fakeConversation()), []);
  const steps: (typeof view.outbox)[] = [];
  for (let at = 0; at < MANY; at += 1) {
    view = printing(view, notice(`${at} a`), notice(`${at} b`));
    steps.push(view.outbox);
  }
  expect(waitingItems(view.outbox)).toEqual(
    Array.from({ length: MANY }, (_, at) => [notice(`${at} a`), notice(`${at} b`)]).flat(),
  );
  expect(steps.slice(1).every((step, at) => step?.earlier === steps[at] && step?.items.length === 2)).toBe(true);
});
