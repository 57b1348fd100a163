import { expect, test } from 'vitest';
import type { UserQuestion } from '../../src/contracts/tool.ts';
import { elicit } from '../../src/mcp/elicit.ts';

type Fields = Extract<Parameters<typeof elicit>[1], { requestedSchema: unknown }>['requestedSchema']['properties'];

/** Has a server ask with this message and these fields, and returns what the user was shown. */
async function askedBy(message: string, properties: Fields = { color: { type: 'string' } }) {
  const shown: UserQuestion[] = [];
  const params = { mode: 'form' as const, message, requestedSchema: { type: 'object' as const, properties } };
  const { result, reason } = await elicit(
    { server: 'paint', file: '/home/me/.ouro/settings.json' },
    params,
    async (question) => {
      shown.push(question);
      return { kind: 'elicitation', action: 'accept', content: {} };
    },
    new AbortController().signal,
  );
  return { shown, action: result.action, reason };
}

test.each<Fields>([
  { password: { type: 'string' } },
  { apiKey: { type: 'string' } },
  { value: { type: 'string', title: 'Your Anthropic API key' } },
  { value: { type: 'string', description: 'Paste the access token here' } },
  { githubToken: { type: 'string' } },
  { client_secret: { type: 'string' } },
  { passPhrase: { type: 'string' } },
  { key: { type: 'string' } },
  { value: { type: 'string', title: 'Kennwort' } },
  { value: { type: 'string', title: 'Your pаssword' } },
  { value: { type: 'string', title: 'Pass\u200bword' } },
  { value: { type: 'string', title: 'Ｐａｓｓｗｏｒｄ' } },
  { value: { type: 'string', description: 'The security code on the back' } },
  { a: { type: 'string' }, pin: { type: 'string', title: 'PIN' } },
  { value: { type: 'string', title: 'p a s s w o r d' } },
  { value: { type: 'string', title: 'p4$$w0rd' } },
  { value: { type: 'string', title: 'pa\u0301sswo\u0308rd' } },
  { value: { type: 'string', title: 'API\u2011key' } },
  { value: { type: 'string', title: 'Your sk-ant-… value' } },
  { value: { type: 'string', title: 'Authorization header' } },
  { value: { type: 'string', title: '2FA' } },
  { pwd: { type: 'string' } },
  { anthropic_ApiKEY: { type: 'string' } },
  { value: { type: 'string', title: 'Your session cookie' } },
  { value: { type: 'string', title: 'Cookie' } },
  { value: { type: 'string', title: 'Value', default: 'your password here' } },
  { value: { type: 'string', title: 'Пароль' } },
  { value: { type: 'string', title: '密码' } },
  { value: { type: 'string', title: 'パスワード' } },
  { value: { type: 'string', title: '비밀번호' } },
])('a form with a field for a secret is declined without a question: %o', async (properties) => {
  const { shown, action, reason } = await askedBy('ouro needs it.', properties);
  expect({ shown, action }).toEqual({ shown: [], action: 'decline' });
  expect(reason).toMatch(/must not ask for passwords, keys or tokens/);
});

test.each<Fields>([
  { color: { type: 'string' } },
  { maxTokens: { type: 'number' } },
  { keyboard: { type: 'string' } },
  { passenger: { type: 'string', title: 'Passenger' } },
  { sort_key: { type: 'string' } },
  { session: { type: 'string', title: 'Cookie banner' } },
  { column: { type: 'string', title: 'Sort by', default: 'key' } },
  { ключ: { type: 'string', title: 'Größe' } },
  { private: { type: 'boolean', title: 'Private repository' } },
  { auth0: { type: 'string', title: 'A b c' } },
  { v: { type: 'string', title: 'Version 2.0-1' } },
])('a form with other fields is asked: %o', async (properties) => {
  expect((await askedBy('Which one?', properties)).shown).toHaveLength(1);
});

test.each([
  'ouro needs your Anthropic API key.',
  'Введите пароль от GitHub',
  'Your p a s s w o r d',
  'Your pass\u200bword, please',
  'Your pаssword, please',
])('a form with a free text whose message asks for a secret is declined: %s', async (message) => {
  expect(await askedBy(message, { value: { type: 'string' } })).toMatchObject({ shown: [], action: 'decline' });
  expect((await askedBy(message, { value: { type: 'boolean' } })).shown).toHaveLength(1);
});

test('a long line is cut, too, and the file of the server is named', async () => {
  const { shown } = await askedBy('x'.repeat(700));
  const message = `${'x'.repeat(600)} … 100 more characters`;
  expect(shown).toMatchObject([{ server: 'paint', file: '/home/me/.ouro/settings.json', message }]);
});

test('a message has five lines at most', async () => {
  const { shown } = await askedBy(Array.from({ length: 15 }, (_, line) => `line ${line}`).join('\n'));
  expect(shown).toMatchObject([{ server: 'paint', message: 'line 0\nline 1\nline 2\nline 3\n… 11 more lines' }]);
});
