import { expect, test } from 'vitest';
import { addHistoryItems, createViewState } from '../../../../src/ui/app-state/view-state.ts';
import { getStatusLineFacts } from '../../../../src/ui/effects/conversation-facts.ts';
import { listUnprintedItems } from '../../../../src/ui/widgets/history/history-item.ts';
import { fakeConversation } from '../../../support/loop/fake-conversation.ts';

const MANY = 3000;
const notice = (text: string) => ({ kind: 'notice', level: 'info', text }) as const;

test('pending lines are printed in order, and adding copies none of them', () => {
  let view = createViewState(getStatusLineFacts(fakeConversation()), []);
  const steps: (typeof view.outbox)[] = [];
  for (let at = 0; at < MANY; at += 1) {
    view = addHistoryItems(view, notice(`${at} a`), notice(`${at} b`));
    steps.push(view.outbox);
  }
  expect(listUnprintedItems(view.outbox)).toEqual(
    Array.from({ length: MANY }, (_, at) => [notice(`${at} a`), notice(`${at} b`)]).flat(),
  );
  expect(steps.slice(1).every((step, at) => step?.previous === steps[at] && step?.items.length === 2)).toBe(true);
});
