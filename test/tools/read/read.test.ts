import { execFileSync } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReadTool, getReadTokenLimit } from '../../../src/tools/read/read.ts';
import { createWalkBackend } from '../../../src/tools/search/walk-backend.ts';
import { longTest } from '../../support/long-test.ts';
import { createStripedPng } from '../../support/striped-png.ts';
import { callTool, createWorkbench, textOf } from '../file-workbench.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
});
afterAll(() => bench.remove());

const read = (file_path: string, rest: Record<string, string | number> = {}) =>
  callTool(createReadTool(bench), { file_path, ...rest }, bench);

async function file(name: string, content: string | Uint8Array) {
  await mkdir(path.dirname(bench.at(name)), { recursive: true });
  await writeFile(bench.at(name), content);
  return name;
}

function png(width: number, height: number, padding = 0) {
  const bytes = Buffer.alloc(32 + padding);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

describe('text', () => {
  test('lines are numbered for the model, plain for hosts', async () => {
    const outcome = await read(await file('two', 'a\n\tb\n'));
    expect(outcome).toEqual({
      content: '1→a\n2→\tb',
      display: { kind: 'file', path: bench.at('two'), lines: 2, partial: false },
      structured: {
        type: 'text',
        file: { filePath: bench.at('two'), content: 'a\n\tb', numLines: 2, startLine: 1, totalLines: 2 },
      },
    });
  });

  test('2000 lines are the default, and PARTIAL names the next offset', async () => {
    const name = await file('long', Array.from({ length: 2001 }, (_, index) => `l${index + 1}\n`).join(''));
    const text = textOf(await read(name));
    expect(text).toContain('2000→l2000\n\n[PARTIAL: lines 1 to 2000 of 2001. Go on with offset 2001.]');
    expect(textOf(await read(name, { offset: 2001 }))).toBe('2001→l2001');
    expect(textOf(await read(name, { offset: '5', limit: '1' }))).toBe('5→l5\n\n[Lines 5 to 5 of 2001.]');
    expect(textOf(await read(name, { offset: -2 }))).toBe('2000→l2000\n2001→l2001');
    expect(textOf(await read(name, { offset: -3, limit: 1 }))).toBe('1999→l1999\n\n[Lines 1999 to 1999 of 2001.]');
    expect(textOf(await read(`${name}:7`, { limit: 1 }))).toBe('7→l7\n\n[Lines 7 to 7 of 2001.]');
    expect(textOf(await read(`${name}#L7-L8`))).toBe('7→l7\n8→l8\n\n[Lines 7 to 8 of 2001.]');
    expect(textOf(await read(name, { offset: 9999 }))).toContain('has only 2001 lines');
  });

  test('long lines and large files are cut, which is reported', async () => {
    const text = textOf(await read(await file('wide', `${'x'.repeat(5000)}\nshort\n`)));
    expect(text).toContain('… [3000 more characters]\n2→short');
    expect(text).toContain('1 long line was cut at 2000 characters');
    const large = textOf(await read(await file('large', `${'y'.repeat(1000)}\n`.repeat(1000))));
    expect(large.length / 3.5).toBeLessThan(25_100);
    expect(large).toMatch(/y\n\n\[PARTIAL: lines 1 to 86 of 1000\. Go on with offset 87\.\]$/);
    const small = createReadTool({ ...bench, maxTokens: () => getReadTokenLimit(10_000) });
    const part = textOf(await callTool(small, { file_path: 'large', offset: 5, limit: 10 }, bench));
    expect(part.length / 3.5).toBeLessThan(1_100);
    expect(part).toMatch(/\[PARTIAL: lines 5 to 7 of 1000\. Go on with offset 8\.\]$/);
  });

  test.each([
    ['UTF-16', Buffer.from('\ufeffzwölf\n', 'utf16le'), '1→zwölf'],
    ['Latin-1', Buffer.from('zwölf\n', 'latin1'), '1→zwölf'],
    ['CRLF', Buffer.from('a\r\nb\r\n'), '1→a\n2→b\n\n[Lines end in CRLF; edits keep that.]'],
    ['control characters', Buffer.from('a\x1b[31mb\x07\n'), '1→a␛[31mb␇'],
    ['nothing', Buffer.alloc(0), 'The file exists and is empty.'],
  ])('%s is shown as text', async (name, bytes, expected) => {
    expect(textOf(await read(await file(name, bytes)))).toBe(expected);
  });

  test('an unchanged file is reported in one line only while its text is in the context as shown', async () => {
    const name = await file('again', 'a\n');
    const tool = createReadTool(bench);
    const readWith = (content: string | undefined) =>
      callTool(
        tool,
        { file_path: name },
        {
          ...bench,
          findSent: (callId) =>
            content === undefined
              ? undefined
              : { result: { type: 'tool_result', tool_use_id: callId, content }, repliesAgo: 3 },
        },
      );
    expect(textOf(await readWith(undefined))).toBe('1→a');
    const again = await readWith('1→a');
    expect(textOf(again)).toBe(
      'Unchanged: these lines stand above, in the result of your Read of this file 3 turns ago.',
    );
    expect(again.display).toMatchObject({ kind: 'file', lines: 1, partial: false });
    for (const changed of ['[Read again: left out to save room.]', 'Interrupted by the user.', '', undefined])
      expect(textOf(await readWith(changed))).toBe('1→a');
    await file('again', 'b\n');
    expect(textOf(await readWith('1→a'))).toBe('1→b');
  });

  test('a path may begin with ~/', async () => {
    await mkdir(bench.home, { recursive: true });
    await file('home/mine', 'x');
    expect(textOf(await read('~/mine'))).toBe('1→x');
  });
});

test('a directory is listed, folders first', async () => {
  await file('folder/b.txt', 'b');
  await file('folder/sub/c.txt', 'c');
  await file('folder/a.txt', 'a');
  expect(textOf(await read('folder'))).toBe(`${bench.at('folder')}/\nsub/\na.txt\nb.txt`);
  await mkdir(bench.at('folder/none'));
  expect(textOf(await read('folder/none'))).toBe(`${bench.at('folder/none')} is an empty directory.`);
});

test.each([
  ['other case', 'found/readme.md', 'found/Readme.md'],
  ['another ending', 'found/Readme.txt', 'found/Readme.md'],
  ['a typing error', 'found/Reademe.md', 'found/Readme.md'],
  ['a typing error in the folder', 'foundd/Readme.md', 'found/Readme.md'],
  ['a project that is in another place', '/workspace/project/found/Readme.md', 'found/Readme.md'],
  ['another folder', 'Readme.md', 'found/Readme.md'],
])('a missing path with %s suggests the existing one', async (_what, missing, existing) => {
  await file('found/Readme.md', 'x');
  const search = { locator: createWalkBackend(), home: bench.home, excluded: () => [] };
  const tool = createReadTool({ ...bench, search });
  await expect(callTool(tool, { file_path: missing }, bench)).rejects.toThrow(`Did you mean ${bench.at(existing)}`);
});

describe('unreadable files are refused at once', () => {
  test('directory, FIFO, socket, device, missing file, binary', async () => {
    execFileSync('mkfifo', [bench.at('fifo')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(bench.at('socket'), resolve));
    await symlink('fifo', bench.at('link-to-fifo'));
    await expect(read('fifo')).rejects.toThrow('FIFO');
    await expect(read('link-to-fifo')).rejects.toThrow('FIFO');
    await expect(read('socket')).rejects.toThrow('socket');
    await expect(read('/dev/zero')).rejects.toThrow('device');
    await expect(read('none')).rejects.toThrow('does not exist');
    await expect(read(await file('bin', Buffer.from([0, 1, 2, 0, 0, 3])))).rejects.toThrow('is binary');
    await new Promise((resolve) => server.close(resolve));
  });

  test('a file of 5 GB', async () => {
    await file('huge', '');
    await truncate(bench.at('huge'), 5 * 1024 ** 3);
    await expect(read('huge')).rejects.toThrow('too large (5 GB');
  });

  test('an aborted read ends', async () => {
    const signal = AbortSignal.abort();
    const name = await file('aborted', 'a');
    const call = callTool(createReadTool(bench), { file_path: name }, { cwd: bench.cwd, signal });
    await expect(call).rejects.toThrow();
  });
});

describe('images, documents, notebooks', () => {
  test('an image is sent as such, by its content and not its name', async () => {
    const bytes = png(10, 20);
    expect((await read(await file('picture.txt', bytes))).content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') } },
    ]);
  });
  test.each([
    ['GIF', [...Buffer.from('GIF89a'), 4, 0, 5, 0, 0, 0], 'image/gif'],
    ['JPEG', [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc0, 0, 11, 8, 0, 5, 0, 4, 1, 1, 1, 1], 'image/jpeg'],
    ['WebP', [...Buffer.from('RIFF\x10\0\0\0WEBPVP8X'), ...Array.from({ length: 20 }, () => 0)], 'image/webp'],
  ])('%s is known', async (name, bytes, mediaType) => {
    expect((await read(await file(name, Buffer.from(bytes)))).display).toMatchObject({ kind: 'image', mediaType });
  });
  longTest('an image the API would refuse is scaled down, which is reported', async () => {
    const { content, display } = await read(await file('wide.png', createStripedPng(4000, 1000)));
    expect(content).toMatchObject([
      { type: 'text', text: expect.stringContaining('shown as 1568×392') },
      { type: 'image' },
    ]);
    expect(display).toMatchObject({ kind: 'image', mediaType: 'image/png' });
    const shown = Buffer.from(
      typeof content === 'string' || content[1]?.type !== 'image' ? '' : content[1].source.data,
      'base64',
    );
    expect([shown.readUInt32BE(16), shown.readUInt32BE(20)]).toEqual([1568, 392]);
  });
  longTest('an image that cannot be scaled down is refused', async () => {
    await expect(read(await file('false.png', png(9000, 10)))).rejects.toThrow('9000×10 pixels');
    await expect(read(await file('vast.png', png(90_000, 90_000)))).rejects.toThrow('could not be made smaller');
    await expect(read(await file('heavy.png', png(10, 10, 4_000_000)))).rejects.toThrow('3.8 MB');
  });
  test('a PDF is a document with its page count', async () => {
    const pdf = '%PDF-1.4\n1 0 obj <</Type /Pages /Count 2>>\n2 0 obj <</Type /Page>>\n3 0 obj <</Type/Page>>\n';
    const name = await file('a.pdf', pdf);
    expect(textOf(await read(name, { pages: '2' }))).toContain('2 pages. Pages 2 to 2');
    await expect(read(name, { pages: '7' })).rejects.toThrow('no page range');
    await expect(read(await file('b.pdf', `${pdf}/Count 101`))).rejects.toThrow('101 pages');
  });
  test('a notebook is shown by cell with its outputs', async () => {
    const cells = [
      { cell_type: 'markdown', id: 'intro', source: ['# Hi\n', 'there'] },
      {
        cell_type: 'code',
        source: 'plot()',
        outputs: [{ text: ['1\n', '2\n'] }, { data: { 'image/png': 'QUJD' } }, { ename: 'E', evalue: 'bad' }],
      },
    ];
    const outcome = await read(await file('n.ipynb', JSON.stringify({ cells, metadata: {}, nbformat: 4 })));
    expect(textOf(outcome)).toBe(
      '<cell id="intro" type="markdown">\n# Hi\nthere\n</cell>\n<cell id="cell-1" type="code">\nplot()\n</cell>\n<output>\n1\n2\n[picture 1, below]\nE: bad\n</output>\n<image>',
    );
  });
});
