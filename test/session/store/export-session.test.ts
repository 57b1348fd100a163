import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DialogueItem } from '../../../src/session/store/dialogue.ts';
import { exportSession, type SessionExportInput } from '../../../src/session/store/export-session.ts';
import { anyText } from '../../support/any-text.ts';
import { runs } from '../../support/runs.ts';

/** What could end a text, an attribute or a block and begin something else. */
const BREAKERS = [
  '<script>alert(1)</script>',
  '</title><script src=//evil.test></script>',
  '</style><style>*{background:url(//evil.test)}</style>',
  '</pre></details><iframe srcdoc="x">',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "' onclick='x",
  '<!--',
  '-->',
  ']]>',
  '<meta http-equiv=refresh content="0;url=//evil.test">',
  '<base href=//evil.test>',
  '&lt;script&gt;',
  '&#60;script>',
  '<\u0000script>',
  '\ud800<b>',
  '\u202e<b>\u2066',
  '\u001b]52;c;eA==\u0007',
  '\u2028<b>',
  '```\n<b>\n```',
];
const words = fc.array(fc.oneof(fc.constantFrom(...BREAKERS), anyText({ maxLength: 5 })), {
  maxLength: 4,
});
const evil = words.map((parts) => parts.join(''));

const itemOf = (text: string): readonly DialogueItem[] => [
  { kind: 'user', id: 'u', text, at: '' },
  { kind: 'assistant', id: 'a', model: text, text, at: '' },
  { kind: 'note', text, at: '' },
  { kind: 'call', id: 'c', tool: text, input: { [text]: text }, result: text, status: text, at: '' },
];
const sessionOf = (text: string): SessionExportInput => {
  return { id: text, title: text, cwd: text, gitBranch: text, items: itemOf(text) };
};
/** Everything in it that a browser takes for markup, in order. */
const markup = (html: string) => html.match(/<[^>]*>?/g);

test('no content of a session becomes markup of the page, hides text or changes its direction', () => {
  const plain = markup(exportSession(sessionOf('words'), 'html'));
  fc.assert(
    fc.property(evil, (text) => {
      const html = exportSession(sessionOf(text), 'html');
      expect(markup(html)).toEqual(plain);
      expect(html.isWellFormed()).toBe(true);
      expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/);
    }),
    runs(500),
  );
});

test('the page has no scripts and no external resources', () => {
  const html = exportSession(sessionOf('words'), 'html');
  expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  expect(html).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|https?:|url\(/i);
});
