import { expect, test } from 'vitest';
import type { Feature } from '../../src/contracts/feature.ts';
import type { CallRequest, ToolOutcome } from '../../src/contracts/tool.ts';
import { composeApprover, composeFeatures, composePromptHook, composeQuestions } from '../../src/engine/features.ts';
import { createSlowCallsFeature } from '../support/slow-calls.ts';

const CALL: CallRequest = {
  callId: 'call-1',
  tool: 'Bash',
  title: 'ls',
  input: { command: 'ls' },
  isReadOnly: true,
  cwd: '/project',
};
const { signal } = new AbortController();

const outcomeOf = (content: string): ToolOutcome => ({ content, display: { kind: 'text', text: content } });

test('without features calls pass as they are', async () => {
  const { beforeCall, afterCall, onStop, attachments } = composeFeatures([{ name: 'nothing' }]);
  expect(await beforeCall(CALL, signal)).toEqual({});
  expect(await afterCall(CALL, outcomeOf('a'), 1, signal)).toEqual({});
  expect(await onStop({ messages: [], stopHookActive: false }, signal)).toEqual({ kind: 'pass' });
  expect(await attachments(signal)).toEqual([]);
});

test('a feature gets the input of those before it; the first reason counts, and contexts are joined', async () => {
  const seen: unknown[] = [];
  const { beforeCall } = composeFeatures([
    { name: 'one', beforeCall: async () => ({ input: { command: 'ls -a' }, ask: 'First.', context: 'a' }) },
    {
      name: 'two',
      async beforeCall({ input }) {
        seen.push(input);
        return { ask: 'Second.', allow: 'two', context: 'b' };
      },
    },
  ]);
  expect(await beforeCall(CALL, signal)).toEqual({
    input: { command: 'ls -a' },
    ask: 'First.',
    allow: 'two',
    context: 'a\n\nb',
  });
  expect(seen).toEqual([{ command: 'ls -a' }]);
});

test.each([{ deny: 'No.' }, { stop: 'Enough.' }])('nobody is asked after %o', async (verdict) => {
  const { beforeCall } = composeFeatures([
    { name: 'one', beforeCall: async () => verdict },
    { name: 'two', beforeCall: () => Promise.reject(new Error('It was asked.')) },
  ]);
  expect(await beforeCall(CALL, signal)).toEqual(verdict);
});

test('a feature gets the result of those before it; the last result and the first block count', async () => {
  const { afterCall } = composeFeatures([
    { name: 'one', afterCall: async (_, { content }) => ({ outcome: outcomeOf(`${content}b`), block: 'First.' }) },
    { name: 'two', afterCall: async () => ({ context: 'seen' }) },
    { name: 'three', afterCall: async (_, { content }) => ({ outcome: outcomeOf(`${content}c`), block: 'Second.' }) },
  ]);
  expect(await afterCall(CALL, outcomeOf('a'), 1, signal)).toEqual({
    outcome: outcomeOf('abc'),
    block: 'First.',
    context: 'seen',
  });
});

test('the first objection decides, and reminders keep the order of the list', async () => {
  const asked: string[] = [];
  const stopping = (name: string, words?: string): Feature => ({
    name,
    async onStop() {
      asked.push(name);
      return words === undefined ? { kind: 'pass' } : { kind: 'reject', words };
    },
    reminders: async () => [name],
  });
  const { onStop, attachments } = composeFeatures([stopping('a'), stopping('b', 'Not yet.'), stopping('c', 'Never.')]);
  expect(await onStop({ messages: [], stopHookActive: false }, signal)).toEqual({ kind: 'reject', words: 'Not yet.' });
  expect(asked).toEqual(['a', 'b']);
  expect(await attachments(signal)).toEqual(['a', 'b', 'c']);
});

test('contexts of a prompt come before its reminders, and nobody is asked after a refusal', async () => {
  const asked: string[] = [];
  const listening = (name: string, refused?: string): Feature => ({
    name,
    async onPrompt(prompt) {
      asked.push(`${name}: ${prompt}`);
      return prompt === refused ? { kind: 'block', words: `${name} refuses.` } : { kind: 'go', context: name };
    },
    reminders: async (moment) => [`${name} at ${moment}`],
  });
  const ask = composePromptHook([listening('a', 'bad'), { name: 'nothing' }, listening('b')]);
  expect(await ask('good', signal, 'prompt')).toEqual({ kind: 'go', context: 'a\nb\na at prompt\nb at prompt' });
  expect(await ask('bad', signal, 'prompt')).toEqual({ kind: 'block', words: 'a refuses.' });
  expect(asked).toEqual(['a: good', 'b: good', 'a: bad']);
  expect(await composePromptHook([{ name: 'nothing' }])('good', signal, 'background')).toEqual({ kind: 'go' });
  const { reminders } = listening('c');
  expect(await composePromptHook([{ name: 'c', reminders }])('go on', signal, 'background')).toEqual({
    kind: 'go',
    context: 'c at background',
  });
});

test('a new behaviour around calls is one feature in the list', async () => {
  const { afterCall } = composeFeatures([createSlowCallsFeature()]);
  const contexts: unknown[] = [];
  for (const durationMs of [100, 90, 95, 300, 80])
    contexts.push((await afterCall(CALL, outcomeOf('a'), durationMs, signal)).context);
  expect(contexts).toEqual([undefined, undefined, undefined, 'Bash took longer than its median.', undefined]);
});

test('the first feature that answers for the user decides about a call', async () => {
  const asked: string[] = [];
  const answering = (name: string, behavior?: 'allow' | 'deny'): Feature => ({
    name,
    async onApproval({ tool }) {
      asked.push(`${name}: ${tool}`);
      return behavior && { behavior };
    },
  });
  const approve = composeApprover([
    { name: 'nothing' },
    answering('a'),
    answering('b', 'deny'),
    answering('c', 'allow'),
  ]);
  expect(await approve(CALL, signal)).toEqual({ behavior: 'deny' });
  expect(asked).toEqual(['a: Bash', 'b: Bash']);
  expect(await composeApprover([answering('d')])(CALL, signal)).toBeUndefined();
});

test('a question passes the features on its way to the user, and the answer passes them on its way back', async () => {
  const question = { kind: 'questions', questions: [] } as const;
  const adding = (name: string): Feature => ({
    name,
    async onQuestion(_, ask) {
      const answer = await ask();
      return answer?.kind === 'questions' ? { ...answer, answers: [...answer.answers, name] } : answer;
    },
  });
  const askUser = async (callId: string) => ({ kind: 'questions', answers: [callId] }) as const;
  const ask = composeQuestions([adding('a'), { name: 'nothing' }, adding('b')], askUser);
  expect(await ask('call-1', question, signal)).toEqual({ kind: 'questions', answers: ['call-1', 'b', 'a'] });
  const silent: Feature = { name: 'silent', onQuestion: async () => undefined };
  expect(await composeQuestions([adding('a'), silent], askUser)('call-1', question, signal)).toBeUndefined();
});
