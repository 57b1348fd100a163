import { describe, expect, test } from 'vitest';
import { getLineText } from '../../../../src/ui/text/line.ts';
import { loadHighlighter } from '../../../../src/ui/widgets/markdown/highlight.ts';
import {
  type MarkdownRenderOptions,
  renderMarkdownBlock,
} from '../../../../src/ui/widgets/markdown/render-markdown-block.ts';
import { blocksOf, shown } from './markdown-text.ts';

const OPTIONS: MarkdownRenderOptions = { width: 60, markup: 'hidden', links: 'printed' };

describe('markdown on the screen', () => {
  test('headings, paragraphs and rules', () => {
    expect(shown('# Title\nSome *text* that is **long** enough to be wrapped at the end of the row.\n\n---\nend')).toBe(
      'Title\n\nSome text that is long enough to be wrapped at the end of\nthe row.\n\n───\n\nend',
    );
  });

  test('lists keep their numbers, boxes and nesting', () => {
    expect(
      shown(
        'Steps:\n1. first\n2. second with words that go over the end of the row, surely\n   - nested\n   - [x] done\n10. tenth\n\n* star',
      ),
    ).toMatchInlineSnapshot(`
      "Steps:
      1. first
      2. second with words that go over the end of the row, surely
         - nested
         - [x] done
      10. tenth

      - star"
    `);
    expect(shown('- some words that wrap here', 16)).toBe('- some words\n  that wrap here');
  });

  test('a code block is a label and unbroken lines at column 0, in lists too', () => {
    const long = `const long = '${'x'.repeat(80)}';`;
    expect(shown(`Do\n\`\`\`ts\n${long}\n\n\treturn;\n\`\`\`\nthen`)).toBe(`Do\n\nts\n${long}\n\n    return;\n\nthen`);
    expect(shown('- run\n  ```sh\n  ls\n  ```\n')).toBe('- run\n\nsh\nls');
  });

  test('quotes have a bar before every row', () => {
    expect(shown('> some words that wrap\n> - item', 16)).toBe('│ some words\n│ that wrap\n│ - item');
  });

  test('links and images show their target', () => {
    expect(shown('[docs](https://x.y/z) https://a.b/c <me@x.y> ![alt](pic.png)')).toBe(
      'docs (https://x.y/z) https://a.b/c me@x.y [image: alt]\n(pic.png)',
    );
    expect(shown('see [1]\n\n[1]: https://x.y')).toContain('https://x.y');
  });

  test('a link is only clickable with a safe scheme', () => {
    const [block] = blocksOf(['[a](https://x.y) [b](javascript:alert)']);
    const spans = block && renderMarkdownBlock(block, { ...OPTIONS, links: 'clickable' }).lines[0]?.spans;
    expect(spans?.map(({ text, href }) => [text, href])).toEqual([
      ['a', 'https://x.y'],
      [' ', undefined],
      ['b', undefined],
      [' (javascript:alert)', undefined],
    ]);
  });

  test('html is shown as text and entities are decoded', () => {
    expect(shown('<b>x</b> a &amp; b &lt;c&gt;\n\n<div>\n hi\n</div>')).toBe(
      '<b>x</b> a & b <c>\n\n<div>\n hi\n</div>',
    );
  });

  test('without colors, backticks and tildes stay', () => {
    const [block] = blocksOf(['`code` ~~gone~~']);
    const line = block && renderMarkdownBlock(block, { ...OPTIONS, markup: 'shown' }).lines[0];
    expect(line && getLineText(line)).toBe('`code` ~~gone~~');
  });

  test('tables are aligned, wrapped, or lists of records in narrow windows', () => {
    const table = '| Name | Says |\n|---|---:|\n| 中文 | some words |\n| b | x |';
    expect(shown(table)).toBe('Name        Says\n────  ──────────\n中文  some words\nb              x');
    const wide = `| Name | Text |\n|---|---|\n| a | ${'word '.repeat(12)} |`;
    expect(shown(wide, 44)).toMatchInlineSnapshot(`
      "Name  Text
      ────  ──────────────────────────────────────
      a     word word word word word word word
            word word word word word"
    `);
    expect(shown(wide, 30).split('\n').slice(0, 2)).toEqual(['Name: a', 'Text: word word word word word']);
  });
});

describe('colors of code', () => {
  test('are those of the theme, and parts of a long block are highlighted in context', async () => {
    const highlight = await loadHighlighter();
    const source = '```ts\nconst a = `one\nconst two\nthree`;\nconst b = 1;\n```\n';
    let carry = '';
    const lines = blocksOf([source], 2).flatMap((block) => {
      const rendered = renderMarkdownBlock(block, { ...OPTIONS, highlight }, carry);
      carry = rendered.openCode;
      return rendered.lines;
    });
    expect(lines.map(getLineText)).toEqual(['ts', 'const a = `one', 'const two', 'three`;', 'const b = 1;']);
    expect(lines[1]?.spans[0]).toEqual({ text: 'const', style: { token: 'accent' } });
    expect(lines[2]?.spans).toEqual([{ text: 'const two', style: { token: 'ok' } }]);
    expect(lines[4]?.spans[0]).toEqual({ text: 'const', style: { token: 'accent' } });
    expect(carry).toBe('');
  });

  test('an unknown language is plain', async () => {
    expect(shown('```nope\n<a> & b\n```', 60, await loadHighlighter())).toBe('nope\n<a> & b');
    expect(shown('```html\n<a href="x">&amp;</a>\n```', 60, await loadHighlighter())).toBe(
      'html\n<a href="x">&amp;</a>',
    );
  });
});

describe('long and unusual texts', () => {
  test('a long item with code in it is laid out like any other', () => {
    const code = Array.from({ length: 400 }, (_, line) => `   const line${line} = 1;`).join('\n');
    const lines = shown(`1. do\n   \`\`\`ts\n${code}\n   \`\`\`\n2. next`).split('\n');
    expect(lines.slice(0, 4)).toEqual(['1. do', '', 'ts', 'const line0 = 1;']);
    expect(lines.slice(-2)).toEqual(['const line399 = 1;', '2. next']);
  });

  test('an item keeps a loose paragraph, a quote and a table inside it', () => {
    expect(shown('- a\n\n  b\n  > q\n- c')).toBe('- a\n\n  b\n  │ q\n- c');
  });

  test('underlined headings and hard breaks', () => {
    expect(shown('Title\n---\none  \ntwo\nthree')).toBe('Title\none\ntwo\nthree');
  });

  test('nested quotes are limited', () => {
    expect(shown(`${'> '.repeat(500)}x`)).toContain('x');
  });
});
