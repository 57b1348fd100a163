import { expect, test } from 'vitest';
import type { Answering, QueryDeps } from '../../../src/contracts/query.ts';
import { query } from '../../../src/engine/query.ts';
import { drain } from '../../support/loop/drain.ts';
import {
  calls,
  cutOff,
  echoTool,
  overloaded,
  type ScriptedReply,
  says,
  scripted,
  userSays,
} from '../../support/loop/scripted.ts';

const A: Answering = { chain: [{ model: 'a' }, { model: 'a2' }], effort: 'low', thinkingBudgetTokens: undefined };
const B: Answering = { chain: [{ model: 'b' }, { model: 'b2' }], effort: 'high', thinkingBudgetTokens: 9_000 };

/** The models that were asked, when the answer to "who answers?" is each of these in turn. */
async function asked(replies: readonly ScriptedReply[], answers: readonly Answering[], more: Partial<QueryDeps> = {}) {
  let turn = 0;
  const deps = scripted(replies, {
    tools: () => [echoTool()],
    answering() {
      turn += 1;
      return answers[Math.min(turn, answers.length) - 1] ?? A;
    },
    ...more,
  });
  await drain(query([userSays('go')], deps, new AbortController().signal));
  return deps.requests().map(({ model, effort }) => `${model} ${effort}`);
}

test('each turn is answered by whoever is chosen when it begins', async () => {
  expect(await asked([calls('Echo'), calls('Echo'), says('done')], [A, B, A])).toEqual(['a low', 'b high', 'a low']);
});

test('a model that took over stays as long as the chain is the same, and a new chain begins with its first', async () => {
  const replies = [overloaded(), calls('Echo'), calls('Echo'), says('done')];
  expect(await asked(replies, [A, A, B])).toEqual(['a low', 'a2 low', 'a2 low', 'b high']);
});

test('a request that is repeated stays with those it was meant for', async () => {
  expect(await asked([overloaded(), says('done')], [A, B])).toEqual(['a low', 'a2 low']);
  const [first, again] = await asked([cutOff(), says('done')], [A, B]);
  expect(again).toBe(first);
});

test('a choice that throws is passed over', async () => {
  const answering = () => {
    throw new Error('no idea');
  };
  expect(await asked([says('done')], [], { answering })).toEqual(['model-a off']);
});
