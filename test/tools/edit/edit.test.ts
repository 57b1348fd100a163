import { chmod, readFile, symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEditTool } from '../../../src/tools/edit/edit.ts';
import { createReadTool } from '../../../src/tools/read/read.ts';
import { createWriteTool } from '../../../src/tools/write.ts';
import { someOf } from '../../support/runs.ts';
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

describe('every other byte is unchanged', () => {
  test.each(someOf(bench1, 15))(
    '$what in $encoding with $ending',
    async ({ encode, dress, before, old, next, after }) => {
      const file = await prepare(encode(dress(before)));
      await edit(file, old, next);
      expect((await readFile(file)).equals(encode(dress(after)))).toBe(true);
    },
  );
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

describe('whitespace and special characters', () => {
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

describe('a missing text is explained and changes nothing', () => {
  test.each([
    ['tabs against spaces', '\tfoo(1);\n', '    foo(1);', 'tabs against spaces'],
    ['indentation', '  foo(1);\n', '    foo(1);', 'indentation'],
    ['quotes, in two places', 'say “hello”\nsay “hello”\n', 'say "hello"', 'kind of quotes'],
    ['a look-alike is named by its number', 'say “hello”\nsay “hello”\n', 'say "hello"', 'U+201C'],
    [
      'other text shows both',
      'const total = sum(a, b);\n',
      'const total = sum(a, c);',
      'old_string: "const total = sum(a, c);"',
    ],
    ['line numbers', 'foo\nbar\n', '1→foo\n2→bar', 'line numbers that Read puts'],
    ['nothing alike', 'foo\n', 'completely different words', 'Nothing in it looks like it'],
    ['blanks at line ends, in two places', 'a;   \nb\na;   \nb\n', 'a;\nb', 'blanks at the end'],
    ['a blank that is not at a line end', 'foobar\n', 'foo ', 'old_string is not in'],
  ])('%s', async (_, before, old, expected) => {
    const file = await prepare(Buffer.from(before));
    await expect(edit(file, old, 'x')).rejects.toThrow(expected);
    expect(await readFile(file, 'utf8')).toBe(before);
  });
});

describe('a unique text with other quotes, dashes or trailing blanks is replaced, which is reported', () => {
  test.each([
    [
      'quotes of the unchanged part stay',
      'say “hello” now\n',
      'say "hello" now',
      'say "hello" later',
      'say “hello” later\n',
    ],
    ['a dash', 'one – two\n', 'one - two', 'one - three', 'one – three\n'],
    ['blanks at line ends', 'foo(1);   \nbar\n', 'foo(1);\nbar', 'foo(1);\nbaz', 'foo(1);   \nbaz\n'],
    ['blanks that are not in the file', 'foo(1);\nbar\n', 'foo(1);  \nbar', 'foo(1);\nbaz', 'foo(1);\nbaz\n'],
    ['an added line', '“a”\n“b”\n', '"a"\n"b"', '"a"\nnew\n"b"', '“a”\nnew\n“b”\n'],
    ['CRLF stays', 'x “a”\r\ny\r\n', 'x "a"\ny', 'x "a"\nz', 'x “a”\r\nz\r\n'],
  ])('%s', async (_, before, old, next, after) => {
    const file = await prepare(Buffer.from(before));
    expect(textOf(await edit(file, old, next))).toContain('It differed from old_string in the kind of quotes');
    expect(await readFile(file, 'utf8')).toBe(after);
  });
});

test('the result lists the lines of all replacements in the new file', async () => {
  const file = await prepare(Buffer.from('a\nb\na\nb\na\n'));
  expect(textOf(await edit(file, 'a', 'x\ny', { replace_all: true }))).toContain('3 occurrences');
  expect(textOf(await edit(file, 'x', 'z', { replace_all: true }))).toContain('(lines 1, 4, 7)');
});

describe('a change that breaks the syntax names the line', () => {
  test.each([
    ['JSON', 'a.json', '{\n  "a": 1\n}\n', '"a": 1', '"a": 1,,', 'line 2'],
    ['YAML', 'a.yml', 'a:\n  - b\n', '- b', '- "b', 'line 3'],
    ['TypeScript', 'a.ts', 'const a: number = 1;\nconst b = 2;\n', 'b = 2', 'b = (2', 'line 2'],
    ['TSX', 'a.tsx', 'const a = <b>c</b>;\n', '</b>', '</i>', 'line 1'],
  ])('%s', async (_, name, before, old, next, line) => {
    const file = bench.at(name);
    await writeFile(file, before);
    expect(textOf(await edit(file, old, next))).toContain(`It now has a syntax error in ${line}: `);
  });
  test.each([
    ['an error that was there before', 'b.json', '{ a }\n// x\n', 'x', 'y'],
    ['comments where they are usual', 'tsconfig.json', '{\n  // x\n  "a": 1,\n}\n', 'x', 'y'],
    ['text without a parser', 'a.txt', '{', '{', '{{'],
  ])('%s is not mentioned', async (_, name, before, old, next) => {
    const file = bench.at(name);
    await writeFile(file, before);
    expect(textOf(await edit(file, old, next))).not.toContain('syntax');
  });
});

describe('stale files', () => {
  test('an unread file is edited where the text occurs exactly once', async () => {
    const file = bench.at('unread');
    await writeFile(file, 'a\nb\n');
    await edit(file, 'b', 'c');
    expect(await readFile(file, 'utf8')).toBe('a\nc\n');
  });
  test.each<readonly [string, string, Record<string, boolean>]>([
    ['no match', 'secret', {}],
    ['several matches', 'token', {}],
    ['all matches', 'token', { replace_all: true }],
    ['a match with other quotes', "key = 'x'", {}],
  ])('%s in a file that was not read tells nothing about its content', async (_, old, more) => {
    const file = bench.at(`unread-${old.length}`);
    await writeFile(file, 'token\ntoken\nkey = ‘x’\n');
    const failure = edit(file, old, 'b', more);
    await expect(failure).rejects.toThrow('has not been read in this session');
    await expect(failure).rejects.not.toThrow(/token|key|lines? \d/);
  });
  test('an edit of an unread file does not count as reading: Write still refuses it', async () => {
    const file = bench.at('edited-unread');
    await writeFile(file, 'a\nb\n');
    await edit(file, 'b', 'c');
    await expect(callTool(createWriteTool(bench), { file_path: file, content: '' }, bench)).rejects.toThrow(
      'Read it first',
    );
  });
  test('a file changed since is not edited, even with the same size', async () => {
    const file = await prepare(Buffer.from('a1\n'));
    await writeFile(file, 'a2\n');
    await expect(edit(file, 'a', 'b')).rejects.toThrow('changed on disk');
    expect(await readFile(file, 'utf8')).toBe('a2\n');
  });
  test('a file that was only touched is edited', async () => {
    const file = await prepare(Buffer.from('a\n'));
    await writeFile(file, 'a\n');
    await edit(file, 'a', 'b');
    expect(await readFile(file, 'utf8')).toBe('b\n');
  });
  test('edits of one file can follow one another without reading again', async () => {
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
  test('a read-only file is unchanged, also through a symlink', async () => {
    const file = await prepare(Buffer.from('a\n'));
    await chmod(file, 0o444);
    await symlink(file, bench.at('link-to-read-only'));
    await expect(edit(file, 'a', 'b')).rejects.toThrow('is read-only');
    await expect(edit(bench.at('link-to-read-only'), 'a', 'b')).rejects.toThrow('is read-only');
    expect(await readFile(file, 'utf8')).toBe('a\n');
  });
  test('a character outside the encoding is named', async () => {
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
