import { expect, test } from 'vitest';
import type { ModelSelection, QueryDeps } from '../../src/contracts/query.ts';
import { query } from '../../src/engine/query.ts';
import { drain } from '../support/loop/drain.ts';
import {
  calls,
  echoTool,
  overloaded,
  type ScriptedReply,
  says,
  scripted,
  truncatedReply,
  userSays,
} from '../support/loop/scripted.ts';

const A: ModelSelection = { chain: [{ model: 'a' }, { model: 'a2' }], effort: 'low', thinkingBudgetTokens: undefined };
const B: ModelSelection = { chain: [{ model: 'b' }, { model: 'b2' }], effort: 'high', thinkingBudgetTokens: 9_000 };

/** The models that were asked, when the answer to "who answers?" is each of these in turn. */
async function asked(
  replies: readonly ScriptedReply[],
  answers: readonly ModelSelection[],
  more: Partial<QueryDeps> = {},
) {
  let turn = 0;
  const deps = scripted(replies, {
    tools: () => [echoTool()],
    selectModels() {
      turn += 1;
      return answers[Math.min(turn, answers.length) - 1] ?? A;
    },
    ...more,
  });
  await drain(query([userSays('go')], deps, new AbortController().signal));
  return deps.requests().map(({ model, effort }) => `${model} ${effort}`);
}

test('each turn uses the model selected when it starts', async () => {
  expect(await asked([calls('Echo'), calls('Echo'), says('done')], [A, B, A])).toEqual(['a low', 'b high', 'a low']);
});

test('a fallback stays as long as the chain is unchanged, and a new chain starts with its first model', async () => {
  const replies = [overloaded(), calls('Echo'), calls('Echo'), says('done')];
  expect(await asked(replies, [A, A, B])).toEqual(['a low', 'a2 low', 'a2 low', 'b high']);
});

test('a repeated request stays with its models', async () => {
  expect(await asked([overloaded(), says('done')], [A, B])).toEqual(['a low', 'a2 low']);
  const [first, again] = await asked([truncatedReply(), says('done')], [A, B]);
  expect(again).toBe(first);
});

test('a failing selection is skipped', async () => {
  const selectModels = () => {
    throw new Error('no idea');
  };
  expect(await asked([says('done')], [], { selectModels })).toEqual(['model-a off']);
});
