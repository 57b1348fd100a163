import { expect, test } from 'vitest';
import type { UserQuestion } from '../../../src/contracts/tool.ts';
import { questionBody } from '../../../src/ui/question/question-body.ts';
import { lineText } from '../../../src/ui/text/line.ts';
import { openDialog } from '../../../src/ui/view/ask.ts';

function bodyOf(question: UserQuestion) {
  return questionBody({ kind: 'question', id: 'q', callId: 'c', question }, openDialog(0));
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
])('where an address leads is said before anything that may be out of sight: %s', (url, host) => {
  const { warnings } = bodyOf(visiting(url, 'line\n'.repeat(99)));
  expect(warnings.map(lineText)).toEqual([`It leads to ${host}`]);
});

test('nothing that a server asks with hides or turns words around', () => {
  const evil = 'one\u202eowt\u200b\rthree\u001b[2J';
  const bodies = [
    bodyOf(visiting(`https://a.test/${evil}`, evil)),
    bodyOf({
      kind: 'questions',
      questions: [{ question: evil, options: [{ label: evil }], multiSelect: false }],
    }),
  ];
  const words = bodies
    .flatMap(({ warnings, subject, said }) => [...warnings, ...subject, ...said].map(lineText))
    .join('\n');
  expect(words).toContain('one<U+202E>owt<U+200B><U+000D>three<U+001B>[2J');
  expect(words).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
});
