import { expect, test } from 'vitest';
import { terminalPicture } from '../support/terminal/terminal-picture.ts';
import { createScreen } from '../support/terminal/terminal-screen.ts';

async function picture(bytes: string, options: Parameters<typeof terminalPicture>[1] = {}) {
  const view = createScreen({ cols: 20, rows: 2, lineEnds: 'lf' });
  view.feed(bytes);
  await view.settled();
  return terminalPicture(view.terminal, options);
}

test.each([
  ['red of the sixteen', '\x1b[31mred', /fill="#cd3131">red</],
  ['one of the 256', '\x1b[38;5;208mx', /fill="#ff8700">x</],
  ['a grey', '\x1b[38;5;244mx', /fill="#808080">x</],
  ['any colour', '\x1b[38;2;1;2;3mx', /fill="#010203">x</],
  ['a background', '\x1b[48;5;21mx', /<rect x="12" y="12" width="8.4" height="18" fill="#0000ff"\/>/],
  ['inverse', '\x1b[7mx', /fill="#d4d4d4"\/><text[^>]*fill="#1e1e1e">x</],
  ['bold, italic, dim, underlined and struck', '\x1b[1;2;3;4;9mx', /bold.*italic.*0\.6.*underline line-through/],
  ['signs of XML', '<a & "b">', />&lt;a &amp; &quot;b&quot;&gt;/],
  ['wide characters by their columns', '漢 x', /textLength="16.8"[^>]*>漢<[\s\S]*<text x="37.2"[^>]*>x</],
])('%s', async (_name, bytes, wanted) => {
  expect(await picture(bytes)).toMatch(wanted);
});

test('the picture shows the screen, or the whole scrollback, and a title on request', async () => {
  const screen = await picture('one\ntwo\nthree');
  expect(screen).not.toContain('>one');
  expect(screen).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="192" height="60"/);
  const all = await picture('one\ntwo\nthree', { rows: 'all', title: 'ouro & co', theme: 'light' });
  expect(all).toMatch(/ouro &amp; co[\s\S]*>one[\s\S]*>three/);
  expect(all).toContain('height="106"');
});
