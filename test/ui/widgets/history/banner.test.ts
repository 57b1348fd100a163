import { expect, test } from 'vitest';
import { getLineText } from '../../../../src/ui/text/line.ts';
import { ASCII_GLYPHS } from '../../../../src/ui/theme/glyphs.ts';
import type { BannerContent } from '../../../../src/ui/widgets/history/history-item.ts';
import { renderBanner, renderLastSession } from '../../../../src/ui/widgets/history/history-lines.ts';
import { DRAWING } from '../screen/render-part.tsx';

const LAST = {
  kind: 'last_session',
  when: 'yesterday',
  title: 'lexer: handle emoji width',
  worked: { turns: 38, added: 210, removed: 33 },
} as const;

test.each([
  [100, '      yesterday  lexer: handle emoji width · 38 turns · +210 −33      ouro -c continues it'],
  [80, '      yesterday  lexer: handle emoji width · 38 turns · +210 −33      ouro -c'],
  [70, '      yesterday  lexer: handle emoji width · 38 turns      ouro -c'],
  [59, 'yesterday  lexer: handle emoji width · 38 turns  ouro -c'],
  [40, 'yesterday  lexer: handle emo…  ouro -c'],
])('at %s columns the last session is shortened from its facts to its title, never the resume hint', (width, words) => {
  const line = renderLastSession(LAST, { ...DRAWING, width });
  expect(' '.repeat(line.indent) + getLineText(line)).toBe(words);
  expect(words.length).toBeLessThanOrEqual(width - 2);
});

test('a session without counts, or without changed lines, shows what is known', () => {
  const drawing = { ...DRAWING, width: 100, glyphs: ASCII_GLYPHS };
  const words = (worked: typeof LAST.worked | { turns: 1; added: 0; removed: 0 } | undefined) =>
    getLineText(renderLastSession({ ...LAST, worked }, drawing)).replace(/ {3,}.*/, '');
  expect(words(undefined)).toBe('yesterday  lexer: handle emoji width');
  expect(words({ turns: 1, added: 0, removed: 0 })).toBe('yesterday  lexer: handle emoji width - 1 turn');
  expect(words(LAST.worked)).toBe('yesterday  lexer: handle emoji width - 38 turns - +210 -33');
});

test('active project files are on their own line when there is no space beside the folder', () => {
  const banner: BannerContent = {
    version: '0.1.0',
    model: 'sonnet 5.5',
    window: '1M',
    folder: '~/shop',
    branch: 'main',
    configuration: ['CLAUDE.md', '2 MCP servers', '3 skills', 'trusted'],
  };
  const rows = (width: number) => renderBanner(banner, { ...DRAWING, width }).map(getLineText);
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
