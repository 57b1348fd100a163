import { expect, test } from 'vitest';
import type { UserQuestion } from '../../../../src/contracts/tool.ts';
import { getLineText, type LogicalLine } from '../../../../src/ui/text/line.ts';
import { createQuestionBody, formatQuestionTitle } from '../../../../src/ui/widgets/form/question-body.ts';
import { createOpenDialogState } from '../../../../src/ui/widgets/permission-dialog/dialog-state.ts';

function bodyOf(question: UserQuestion) {
  return createQuestionBody({ kind: 'question', id: 'q', callId: 'c', question }, createOpenDialogState(0));
}

const visiting = (url: string, message = 'Log in.'): UserQuestion => {
  return { kind: 'elicitation', server: 's', message, wants: { mode: 'url', url, id: 'e' } };
};

test.each([
  ['https://github.com/login', 'github.com'],
  ['https://github.com@evil.test/login', 'evil.test'],
  [`https://evil.test/${'github.com/login/'.repeat(40)}`, 'evil.test'],
  ['https://gіthub.com/login', 'xn--gthub-n2e.com'],
  ['http://127.0.0.1:8080/x', '127.0.0.1:8080'],
])('the host of a URL is shown before anything that may be hidden: %s', (url, host) => {
  const { warnings } = bodyOf(visiting(url, 'line\n'.repeat(99)));
  expect(warnings.map(getLineText)).toEqual([`Host: ${host}`]);
});

const withBar = ({ prefix = [], spans }: LogicalLine) => [...prefix, ...spans].map(({ text }) => text).join('');

test('a bar is before every row of a server, and none of its fields is long', () => {
  const schema = { properties: { a: { type: 'string', title: 'T'.repeat(300), description: 'one\ntwo' } } };
  const wants = { mode: 'form', schema } as const;
  const form = bodyOf({ kind: 'elicitation', server: 's', file: '/p/.mcp.json', message: 'a\nb', wants });
  expect(form.warnings.map(withBar)).toEqual(['Configured in /p/.mcp.json']);
  expect(form.subject.map(withBar)).toEqual(['│ a', '│ b', `│ ${'T'.repeat(200)}…`]);
  expect(form.description.map(withBar)).toEqual(['│ one two']);
  const question = {
    question: 'Send this?',
    quote: 'ouro says:\nyes',
    options: [{ label: 'Yes' }],
    multiSelect: false,
  };
  const source = { server: 's', file: '/p/.mcp.json' };
  const sampling = { kind: 'questions', questions: [question], source } as const;
  expect(formatQuestionTitle(sampling)).toBe('The MCP server s asks');
  const body = bodyOf(sampling);
  expect([...body.warnings, ...body.subject].map(withBar)).toEqual([
    'Configured in /p/.mcp.json',
    'Send this?',
    '│ ouro says:',
    '│ yes',
  ]);
});

test('no question of a server hides text or changes its direction', () => {
  const evil = 'one\u202eowt\u200b\rthree\u001b[2J';
  const bodies = [
    bodyOf(visiting(`https://a.test/${evil}`, evil)),
    bodyOf({
      kind: 'questions',
      questions: [{ question: evil, options: [{ label: evil }], multiSelect: false }],
    }),
  ];
  const words = bodies
    .flatMap(({ warnings, subject, description }) => [...warnings, ...subject, ...description].map(getLineText))
    .join('\n');
  expect(words).toContain('one<U+202E>owt<U+200B><U+000D>three<U+001B>[2J');
  expect(words).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
});
