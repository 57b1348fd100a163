import { expect, test } from 'vitest';
import type { UserQuestion } from '../../src/contracts/tool.ts';
import { askUserQuestionTool } from '../../src/tools/ask-user-question.ts';
import { callTool } from '../support/call-tool.ts';

const options = [{ label: 'Red' }, { label: 'Blue', description: 'like the sea' }];
const input = { questions: [{ question: 'Which colour?', header: 'Colour', options }] };

test('answers are returned beside their questions, custom text too', async () => {
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

test('an abort is reported as one', async () => {
  expect(await callTool(askUserQuestionTool, input, { signal: AbortSignal.abort() })).toMatchObject({
    content: 'The user stopped before answering. Nothing was decided.',
  });
});

test.each([
  [{ by: 'user' }, 'The user declined to answer. Nothing was decided.'],
  [{ by: 'user', reason: 'Look into the README.' }, 'The user declined to answer. They say: Look into the README.'],
  [{ by: 'host', reason: 'Later.' }, 'The application that runs this session declined to answer. It says: Later.'],
] as const)('a question that is refused is told with its source and words: %j', async (refusal, content) => {
  const ask = async () => ({ kind: 'refused', ...refusal }) as const;
  expect(await callTool(askUserQuestionTool, input, { ask })).toEqual({ content, isError: true });
});

test('without a user, the model is told to decide', async () => {
  expect(await callTool(askUserQuestionTool, input)).toMatchObject({
    isError: true,
    content: expect.stringContaining('cannot be asked'),
  });
});

test.each([
  ['no question', { questions: [] }],
  ['five questions', { questions: Array.from({ length: 5 }, () => input.questions[0] ?? null) }],
  ['one choice', { questions: [{ question: 'Which?', options: [{ label: 'Red' }] }] }],
])('%s is refused', (_, given) => expect(askUserQuestionTool.prepare(given).ok).toBe(false));
