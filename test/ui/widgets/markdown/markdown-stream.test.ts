import fc from 'fast-check';
import { Lexer, type Token, type Tokens } from 'marked';
import { describe, expect, test } from 'vitest';
import {
  appendMarkdown,
  createMarkdownStream,
  finishMarkdown,
  getOpenMarkdownBlock,
} from '../../../../src/ui/widgets/markdown/markdown-stream.ts';
import { blocksOf } from './markdown-text.ts';

const FRAGMENTS = [
  '# Title\n',
  'A paragraph of *text*.\n',
  'second line\n',
  '\n',
  '\n\n',
  '- item\n',
  '- [x] done\n',
  '  - nested\n',
  '  more of it\n',
  '1. one\n',
  '2. two\n',
  '   ```ts\n   const a = 1;\n   ```\n',
  '```ts\nconst a = 1;\n\nlet b;\n```\n',
  '~~~\ncode\n~~~\n',
  '> quote\n',
  '> - in quote\n',
  '---\n',
  '***\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n',
  '    indented\n',
  '<div>\nhtml\n</div>\n',
  '<!-- a\n\ncomment -->\n',
  'Title\n===\n',
  '[a]: http://x.y\n',
  '\r\n',
];
const source = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 14 }).map((parts) => parts.join(''));

function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
}

/** What the lexer sees, without the shape of lists, which we hand out item by item. */
function leaves(text: string): string[] {
  const flat = (tokens: readonly Token[]): string[] =>
    tokens.flatMap((token) => {
      if (token.type === 'space') return [];
      if (token.type === 'list') return items(token).flatMap((item) => flat(item.tokens));
      return token.type === 'text' ? [`paragraph ${token.raw.trim()}`] : [`${token.type} ${token.raw.trim()}`];
    });
  return flat(new Lexer({ gfm: true }).lex(text));
}

function items(token: Token): readonly Tokens.ListItem[] {
  return token.type === 'list' ? token.items : [];
}

describe('a stream of markdown', () => {
  test('gives the same blocks however it is split', () => {
    fc.assert(
      fc.property(source, fc.array(fc.nat(500), { maxLength: 12 }), (text, places) => {
        expect(blocksOf(cut(text, places), 2)).toEqual(blocksOf([text], 2));
      }),
      { numRuns: 300 },
    );
  });

  test('loses nothing: the words of the source are the words of the blocks', () => {
    fc.assert(
      fc.property(source, (text) => {
        const words = (of: string) => of.match(/\w+/g) ?? [];
        const fromBlocks = blocksOf([text], 2).flatMap((block) =>
          words(
            `${block.kind === 'code' && block.part !== 'middle' && block.part !== 'last' ? block.language : ''}\n${block.source}`,
          ),
        );
        expect(fromBlocks).toEqual(words(text));
      }),
      { numRuns: 300 },
    );
  });

  test('ordinary texts are divided as by the lexer', () => {
    const text = [
      '# Title',
      'Intro with\ntwo lines:',
      '- a\n- b\n  - c\n\n  more of b',
      '1. one\n2. two\n   ```sh\n   ls\n   ```',
      'Text before code:\n```ts\nconst a = 1;\n```\nand after',
      '> quote\n> goes on',
      '| a | b |\n|---|---|\n| 1 | 2 |',
      'Setext\n---',
      '***',
      'last',
    ].join('\n\n');
    const parts = blocksOf([text]).map((block) =>
      block.kind === 'code' ? `\`\`\`${block.language}\n${block.source}\n\`\`\`` : block.source,
    );
    expect(parts.flatMap(leaves)).toEqual(leaves(text));
  });

  test('a block is complete as soon as nothing can change it', () => {
    const one = appendMarkdown(createMarkdownStream(), '# Title\nSome te');
    expect(one.finished).toEqual([{ kind: 'prose', source: '# Title', gap: 'none' }]);
    expect(getOpenMarkdownBlock(one.stream)).toEqual({ kind: 'prose', source: 'Some te', gap: 'line' });
    const two = appendMarkdown(one.stream, 'xt\n\n- a\n- b\n');
    expect(two.finished.map(({ source }) => source)).toEqual(['Some text', '- a']);
    expect(finishMarkdown(two.stream)).toEqual([{ kind: 'prose', source: '- b', gap: 'none' }]);
  });

  test('a long fence is emitted in parts', () => {
    const blocks = blocksOf(['```js\n1\n2\n3\n4\n5\n```\n'], 2);
    expect(blocks.map((block) => [block.kind === 'code' ? block.part : '', block.source])).toEqual([
      ['first', '1\n2'],
      ['middle', '3\n4'],
      ['last', '5'],
    ]);
  });

  test('an open fence shows its code without the beginning of its end', () => {
    const { stream } = appendMarkdown(createMarkdownStream(), '```js\nlet a;\n``');
    expect(getOpenMarkdownBlock(stream)).toMatchObject({
      kind: 'code',
      language: 'js',
      source: 'let a;',
      part: 'first',
    });
  });
});
