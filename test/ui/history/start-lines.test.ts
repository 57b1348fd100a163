import { expect, test } from 'vitest';
import { bannerLines, lastSessionLine } from '../../../src/ui/history/start-lines.ts';
import { lineText } from '../../../src/ui/text/line.ts';
import { ASCII_GLYPHS } from '../../../src/ui/theme/glyphs.ts';
import { DRAWING } from '../components/render-part.tsx';

const LAST = {
  kind: 'last_session',
  when: 'yesterday',
  title: 'lexer: handle emoji width',
  worked: { turns: 38, added: 210, removed: 33 },
} as const;

test.each([
  [100, '      yesterday  lexer: handle emoji width · 38 turns · +210 −33      ouro -c goes on there'],
  [80, '      yesterday  lexer: handle emoji width · 38 turns · +210 −33      ouro -c'],
  [70, '      yesterday  lexer: handle emoji width · 38 turns      ouro -c'],
  [59, 'yesterday  lexer: handle emoji width · 38 turns  ouro -c'],
  [40, 'yesterday  lexer: handle emo…  ouro -c'],
])('at %s columns the last session gives way from its facts to its title, never how to go on', (width, words) => {
  const line = lastSessionLine(LAST, { ...DRAWING, width });
  expect(' '.repeat(line.indent) + lineText(line)).toBe(words);
  expect(words.length).toBeLessThanOrEqual(width - 2);
});

test('a session without counts, or with none of lines, is told by what is known', () => {
  const drawing = { ...DRAWING, width: 100, glyphs: ASCII_GLYPHS };
  const words = (worked: typeof LAST.worked | { turns: 1; added: 0; removed: 0 } | undefined) =>
    lineText(lastSessionLine({ ...LAST, worked }, drawing)).replace(/ {3,}.*/, '');
  expect(words(undefined)).toBe('yesterday  lexer: handle emoji width');
  expect(words({ turns: 1, added: 0, removed: 0 })).toBe('yesterday  lexer: handle emoji width - 1 turn');
  expect(words(LAST.worked)).toBe('yesterday  lexer: handle emoji width - 38 turns - +210 -33');
});

test('what is in effect stands on a line of its own where it has no room beside the folder', () => {
  const banner = {
    version: '0.1.0',
    model: 'sonnet 5.5',
    window: '1M',
    folder: '~/shop',
    branch: 'main',
    effects: ['CLAUDE.md', '2 MCP servers', '3 skills', 'trusted'],
  };
  const rows = (width: number) => bannerLines(banner, { ...DRAWING, width }).map(lineText);
  expect(rows(80)).toEqual([
    ' ╭─╮  ouro 0.1.0     sonnet 5.5 · 1M window',
    ' ╰◂╯  ~/shop  ⎇ main   CLAUDE.md · 2 MCP servers · 3 skills · trusted',
  ]);
  expect(rows(40)).toEqual([
    'ouro 0.1.0     sonnet 5.5 · 1M window',
    '~/shop  ⎇ main',
    'CLAUDE.md · 2 MCP servers · 3 skills · trusted',
  ]);
});
