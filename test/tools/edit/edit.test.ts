import { chmod, readFile, symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEditTool } from '../../../src/tools/edit/edit.ts';
import { createReadTool } from '../../../src/tools/read/read.ts';
import { callTool, createWorkbench, textOf } from '../file-workbench.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
let count = 0;
beforeAll(async () => {
  bench = await createWorkbench();
});
afterAll(() => bench.remove());

const encodings = {
  'UTF-8': (text: string) => Buffer.from(text, 'utf8'),
  'UTF-8 with a mark': (text: string) => Buffer.from(`\ufeff${text}`, 'utf8'),
  'UTF-16 LE with a mark': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'UTF-16 BE with a mark': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  'UTF-16 LE without a mark': (text: string) => Buffer.from(text, 'utf16le'),
  'UTF-16 BE without a mark': (text: string) => Buffer.from(text, 'utf16le').swap16(),
  'Latin-1': (text: string) => Buffer.from(text, 'latin1'),
} as const;

const endings: readonly (readonly [string, (text: string) => string])[] = [
  ['LF', (text) => text],
  ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ['CR', (text) => text.replaceAll('\n', '\r')],
  ['mixed endings', (text) => text.replace('\n', '\r\n').replace(/\nlast/, '\r\nlast')],
  ['no final newline', (text) => text.replace(/\n$/, '')],
];

/** The file's text in `\n`, the edit, and what must be there in the end; endings are put on both by the same rule. */
const edits = [
  {
    what: 'one line',
    before: 'first é\n\tkeep  \nold(1)\nlast é\n',
    old: 'old(1)',
    next: 'new(2, 3)',
    after: 'first é\n\tkeep  \nnew(2, 3)\nlast é\n',
  },
  { what: 'two lines', before: 'first é\na\nb\nlast\n', old: 'a\nb', next: 'A\nB', after: 'first é\nA\nB\nlast\n' },
] as const;

const bench1 = Object.entries(encodings).flatMap(([encoding, encode]) =>
  endings.flatMap(([ending, dress]) => edits.map((edit) => ({ encoding, encode, ending, dress, ...edit }))),
);

async function prepare(bytes: Uint8Array) {
  count += 1;
  const file = bench.at(`file-${count}.txt`);
  await writeFile(file, bytes);
  await callTool(createReadTool(bench), { file_path: file }, bench);
  return file;
}

const edit = (file: string, old_string: string, new_string: string, rest: Record<string, string | boolean> = {}) =>
  callTool(createEditTool(bench), { file_path: file, old_string, new_string, ...rest }, bench);

describe('every untouched byte stays', () => {
  test.each(bench1)('$what in $encoding with $ending', async ({ encode, dress, before, old, next, after }) => {
    const file = await prepare(encode(dress(before)));
    await edit(file, old, next);
    expect((await readFile(file)).equals(encode(dress(after)))).toBe(true);
  });
});

describe('line endings', () => {
  test.each([
    ['a new line takes its neighbours ending', 'a\r\nb\r\n', 'a', 'a\nx', 'a\r\nx\r\nb\r\n'],
    ['lines go away with their endings', 'a\r\nb\r\nc\r\n', 'b\n', '', 'a\r\nc\r\n'],
    [
      'kept lines of a mixed file keep theirs',
      'a\nb\r\nc\nd\r\n',
      'a\nb\nc\nd',
      'a\nx\nb\nc\nd',
      'a\nx\nb\r\nc\nd\r\n',
    ],
    ['a line dropped from a mixed file', 'a\nb\r\nc\nd\r\ne', 'a\nb\nc\nd\n', 'a\nc\nd\n', 'a\nc\nd\r\ne'],
    ['old_string may be written with CRLF', 'a\r\nb\r\n', 'a\r\nb', 'x\r\ny', 'x\r\ny\r\n'],
    ['CRLF can be turned into LF on purpose', 'a\r\nb\r\n', 'a\r\nb', 'a\nb', 'a\nb\r\n'],
    ['LF stays LF when new_string has CRLF on purpose', 'a\nb\n', 'a', 'a\r', 'a\r\nb\n'],
    ['the last line has no ending', 'a\r\nb', 'b', 'b\nc', 'a\r\nb\r\nc'],
    ['appending after the final newline', 'a\nb\n', 'b\n', 'b\nc\n', 'a\nb\nc\n'],
    ['blank lines at the end stay', 'a\n\n\n', 'a', 'b', 'b\n\n\n'],
  ])('%s', async (_, before, old, next, after) => {
    const file = await prepare(Buffer.from(before));
    await edit(file, old, next);
    expect(await readFile(file, 'utf8')).toBe(after);
  });
});

describe('whitespace and odd characters', () => {
  test.each([
    ['tabs', '\tif (a) {\n\t\tb\n\t}\n', '\t\tb\n', '\t\tc\n', '\tif (a) {\n\t\tc\n\t}\n'],
    ['blanks at the end of a line', 'a  \nb\n', 'a  \n', 'a\n', 'a\nb\n'],
    ['dollar signs are only dollar signs', 'x = 1\n', 'x = 1', "$& $1 $$ $'", "$& $1 $$ $'\n"],
    ['characters outside the base plane', '😀 a 😀\n', '😀 a', '🚀 b', '🚀 b 😀\n'],
    ['a no-break space', 'a\u00a0b\n', 'a\u00a0b', 'a b', 'a b\n'],
    ['form feed and escape', 'a\f\x1b[0m\n', '\x1b[0m', '', 'a\f\n'],
    ['a very long line', `${'x'.repeat(100_000)}y\n`, 'y', 'z', `${'x'.repeat(100_000)}z\n`],
  ])('%s', async (_, before, old, next, after) => {
    const file = await prepare(Buffer.from(before));
    await edit(file, old, next);
    expect(await readFile(file, 'utf8')).toBe(after);
  });
});

describe('uniqueness', () => {
  test('a text that occurs twice is refused with its lines', async () => {
    const file = await prepare(Buffer.from('a\nb\na\n'));
    await expect(edit(file, 'a', 'c')).rejects.toThrow('2 times in');
    await expect(edit(file, 'a', 'c')).rejects.toThrow('(lines 1, 3)');
    expect(await readFile(file, 'utf8')).toBe('a\nb\na\n');
  });
  test.each([true, 'true'])('replace_all %j replaces each', async (replace_all) => {
    const file = await prepare(Buffer.from('a\r\nb\r\na\r\n'));
    expect(textOf(await edit(file, 'a\n', 'c\nd\n', { replace_all }))).toContain('2 occurrences');
    expect(await readFile(file, 'utf8')).toBe('c\r\nd\r\nb\r\nc\r\nd\r\n');
  });
  test('occurrences do not overlap', async () => {
    const file = await prepare(Buffer.from('aaaa\n'));
    await edit(file, 'aa', 'b', { replace_all: true });
    expect(await readFile(file, 'utf8')).toBe('bb\n');
  });
});

describe('a miss is explained and changes nothing', () => {
  test.each([
    ['tabs against spaces', '\tfoo(1);\n', '    foo(1);', 'tabs against spaces'],
    ['indentation', '  foo(1);\n', '    foo(1);', 'indentation'],
    ['quotes', 'say “hello”\n', 'say "hello"', 'kind of quotes'],
    ['a look-alike is named by its number', 'say “hello”\n', 'say "hello"', 'U+201C'],
    [
      'other text shows both',
      'const total = sum(a, b);\n',
      'const total = sum(a, c);',
      'old_string: "const total = sum(a, c);"',
    ],
    ['line numbers', 'foo\nbar\n', '1→foo\n2→bar', 'line numbers that Read puts'],
    ['nothing alike', 'foo\n', 'completely different words', 'Nothing in it looks like it'],
    ['a blank at the end', 'foo(1);   \nbar\n', 'foo(1);\nbar', 'blanks at the end'],
  ])('%s', async (_, before, old, expected) => {
    const file = await prepare(Buffer.from(before));
    await expect(edit(file, old, 'x')).rejects.toThrow(expected);
    expect(await readFile(file, 'utf8')).toBe(before);
  });
});

describe('staleness', () => {
  test('a file that was not read is not edited', async () => {
    const file = bench.at('unread');
    await writeFile(file, 'a');
    await expect(edit(file, 'a', 'b')).rejects.toThrow('Read it first');
  });
  test('a file changed since is not edited, even with the same size', async () => {
    const file = await prepare(Buffer.from('a1\n'));
    await writeFile(file, 'a2\n');
    await expect(edit(file, 'a', 'b')).rejects.toThrow('changed on disk');
    expect(await readFile(file, 'utf8')).toBe('a2\n');
  });
  test('a file only touched is edited', async () => {
    const file = await prepare(Buffer.from('a\n'));
    await writeFile(file, 'a\n');
    await edit(file, 'a', 'b');
    expect(await readFile(file, 'utf8')).toBe('b\n');
  });
  test('edits of one file follow one another without reading again', async () => {
    const file = await prepare(Buffer.from('a\n'));
    await edit(file, 'a', 'b');
    await edit(file, 'b', 'c');
    expect(await readFile(file, 'utf8')).toBe('c\n');
  });
  test('a file read under one name may be edited through a link to it', async () => {
    const file = await prepare(Buffer.from('a\n'));
    await symlink(file, bench.at('link'));
    await edit(bench.at('link'), 'a', 'b');
    expect(await readFile(file, 'utf8')).toBe('b\n');
  });
});

describe('refusals', () => {
  test.each([
    ['nothing to change', 'a', 'a', 'the same'],
    ['an empty old_string', '', 'b', 'old_string is empty'],
    ['half a character', 'a', '\ud83d', 'surrogate'],
  ])('%s', async (_, old, next, expected) => {
    const file = await prepare(Buffer.from('a\n'));
    await expect(edit(file, old, next)).rejects.toThrow(expected);
  });
  test('a read-only file stays as it is, also behind a link', async () => {
    const file = await prepare(Buffer.from('a\n'));
    await chmod(file, 0o444);
    await symlink(file, bench.at('link-to-read-only'));
    await expect(edit(file, 'a', 'b')).rejects.toThrow('is read-only');
    await expect(edit(bench.at('link-to-read-only'), 'a', 'b')).rejects.toThrow('is read-only');
    expect(await readFile(file, 'utf8')).toBe('a\n');
  });
  test('a character the encoding lacks is named', async () => {
    const file = await prepare(Buffer.from('é\n', 'latin1'));
    await expect(edit(file, 'é', '→')).rejects.toThrow('cannot hold “→”');
  });
});

test('an empty old_string creates a file, and hosts get the change as data', async () => {
  const file = bench.at('deep/new.txt');
  expect((await edit(file, '', 'one\n')).display).toMatchObject({ kind: 'diff', created: true, added: 1, removed: 0 });
  const { structured, display } = await edit(file, 'one', 'two');
  expect(display).toMatchObject({ kind: 'diff', created: false, added: 1, removed: 1 });
  expect(structured).toEqual({
    filePath: file,
    oldString: 'one',
    newString: 'two',
    replaceAll: false,
    originalFile: 'one\n',
    structuredPatch: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ['-one', '+two'] }],
    userModified: false,
  });
});
