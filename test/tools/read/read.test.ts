import { execFileSync } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReadTool } from '../../../src/tools/read/read.ts';
import { longTest } from '../../support/long-test.ts';
import { callTool, createWorkbench, textOf } from '../file-workbench.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
});
afterAll(() => bench.remove());

const read = (file_path: string, rest: Record<string, string | number> = {}) =>
  callTool(createReadTool(bench), { file_path, ...rest }, bench);

async function file(name: string, content: string | Uint8Array) {
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

/** A real picture in one colour with stripes. */
function striped(width: number, height: number) {
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width, 200)]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const part = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const whole = Buffer.alloc(body.length + 8);
    whole.writeUInt32BE(data.length, 0);
    whole.set(body, 4);
    whole.writeUInt32BE(crc32(body), body.length + 4);
    return whole;
  };
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([mark, part('IHDR', header), part('IDAT', pixels), part('IEND', Buffer.alloc(0))]);
}

describe('text', () => {
  test('lines are numbered, and hosts get them bare', async () => {
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
    expect(textOf(await read(name, { offset: '5', limit: '1' }))).toMatch(/^5→l5\n\n\[PARTIAL.*offset 6\.\]$/);
    expect(textOf(await read(name, { offset: 9999 }))).toContain('has only 2001 lines');
  });

  test('long lines and large files are cut, and it is said', async () => {
    const text = textOf(await read(await file('wide', `${'x'.repeat(5000)}\nshort\n`)));
    expect(text).toContain('… [3000 more characters]\n2→short');
    expect(text).toContain('1 long line was cut at 2000 characters');
    const large = textOf(await read(await file('large', `${'y'.repeat(1000)}\n`.repeat(1000))));
    expect(Buffer.byteLength(large)).toBeLessThan(257 * 1024);
    expect(large).toMatch(/PARTIAL: lines 1 to \d+ of 1000 \(256 KB reached\)/);
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

  test('an unchanged file read again is a line, until it changes or the conversation forgot it', async () => {
    const name = await file('again', 'a\n');
    await read(name);
    const again = await read(name);
    expect(textOf(again)).toContain('Unchanged');
    expect(again.display).toMatchObject({ kind: 'file', lines: 1, partial: false });
    bench.readState.forgetShown();
    expect(textOf(await read(name))).toBe('1→a');
    await file('again', 'b\n');
    expect(textOf(await read(name))).toBe('1→b');
  });

  test('a path may begin with ~/', async () => {
    await mkdir(bench.home, { recursive: true });
    await file('home/mine', 'x');
    expect(textOf(await read('~/mine'))).toBe('1→x');
  });
});

describe('what cannot be read is refused at once', () => {
  test('directory, FIFO, socket, device, missing file, binary', async () => {
    execFileSync('mkfifo', [bench.at('fifo')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(bench.at('socket'), resolve));
    await symlink('fifo', bench.at('link-to-fifo'));
    await expect(read('.')).rejects.toThrow('is a directory. Use Glob');
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

describe('pictures, documents, notebooks', () => {
  test('a picture is sent as a picture, by its content and not its name', async () => {
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
  longTest('a picture the API would refuse is made smaller, and it is said', async () => {
    const { content, display } = await read(await file('wide.png', striped(4000, 1000)));
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
  test('one that cannot be made smaller is refused here', async () => {
    await expect(read(await file('false.png', png(9000, 10)))).rejects.toThrow('9000×10 pixels');
    await expect(read(await file('vast.png', png(90_000, 90_000)))).rejects.toThrow('could not be made smaller');
    await expect(read(await file('heavy.png', png(10, 10, 4_000_000)))).rejects.toThrow('3.8 MB');
  });
  test('a PDF is a document with its number of pages', async () => {
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
