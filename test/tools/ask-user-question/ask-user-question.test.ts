import { expect, test } from 'vitest';
import type { UserQuestion } from '../../../src/contracts/tool.ts';
import { askUserQuestionTool } from '../../../src/tools/ask-user-question/ask-user-question.ts';
import { callTool } from '../../support/call-tool.ts';

const options = [{ label: 'Red' }, { label: 'Blue', description: 'like the sea' }];
const input = { questions: [{ question: 'Which colour?', header: 'Colour', options }] };

test('the answers come back beside their questions, own words too', async () => {
  const asked: UserQuestion[] = [];
  const outcome = await callTool(askUserQuestionTool, input, {
    ask: async (question) => {
      asked.push(question);
      return { kind: 'questions', answers: ['something like green'] };
    },
  });
  const questions = [{ question: 'Which colour?', header: 'Colour', options, multiSelect: false }];
  expect(asked).toEqual([{ kind: 'questions', questions }]);
  expect(outcome).toEqual({
    content: 'Which colour?\n→ something like green',
    display: { kind: 'question', questions, answers: ['something like green'] },
  });
});

test('a stop is told as one', async () => {
  expect(await callTool(askUserQuestionTool, input, { signal: AbortSignal.abort() })).toMatchObject({
    content: 'The user stopped before answering. Nothing was decided.',
  });
});

test('where nobody is, the model is told to decide', async () => {
  expect(await callTool(askUserQuestionTool, input)).toMatchObject({
    isError: true,
    content: expect.stringContaining('nobody to ask'),
  });
});

test.each([
  ['no question', { questions: [] }],
  ['five questions', { questions: Array.from({ length: 5 }, () => input.questions[0] ?? null) }],
  ['one choice', { questions: [{ question: 'Which?', options: [{ label: 'Red' }] }] }],
])('%s is refused', (_, given) => expect(askUserQuestionTool.prepare(given).ok).toBe(false));
