import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeText, encodeText } from '../../../src/lib/files/text-encoding.ts';

const bytesOf = (text: string, encoding: BufferEncoding, mark: readonly number[] = []) =>
  Buffer.concat([Buffer.from(mark), Buffer.from(text, encoding)]);
const text = 'Zürich\r\n日本 😀\nend';
const western = 'int main() {\r\n  return 0;\n}';

describe('decodeText', () => {
  test.each([
    ['UTF-8', bytesOf(text, 'utf8'), { text, encoding: 'utf-8', bom: false }],
    ['UTF-8 with a mark', bytesOf(text, 'utf8', [0xef, 0xbb, 0xbf]), { text, encoding: 'utf-8', bom: true }],
    ['UTF-16 LE with a mark', bytesOf(text, 'utf16le', [0xff, 0xfe]), { text, encoding: 'utf-16le', bom: true }],
    ['UTF-16 BE with a mark', bytesOf(`\ufeff${text}`, 'utf16le').swap16(), { text, encoding: 'utf-16be', bom: true }],
    ['UTF-16 LE without', bytesOf(western, 'utf16le'), { text: western, encoding: 'utf-16le', bom: false }],
    ['UTF-16 BE without', bytesOf(western, 'utf16le').swap16(), { text: western, encoding: 'utf-16be', bom: false }],
    ['Latin-1', bytesOf('Zürich', 'latin1'), { text: 'Zürich', encoding: 'windows-1252', bom: false }],
    [
      'the Euro sign of Windows',
      Buffer.from([0x80, 0x20, 0x93]),
      { text: '€ “', encoding: 'windows-1252', bom: false },
    ],
    ['an empty file', Buffer.alloc(0), { text: '', encoding: 'utf-8', bom: false }],
  ])('%s is recognised and written back byte for byte', (_, bytes, expected) => {
    const decoded = decodeText(bytes);
    expect(decoded).toEqual(expected);
    if (decoded === undefined) return;
    const encoded = encodeText(decoded.text, decoded);
    expect(encoded.ok && Buffer.from(encoded.bytes).equals(bytes)).toBe(true);
  });

  test('binary data is not text', () => {
    expect(decodeText(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 1]))).toBeUndefined();
    expect(decodeText(Buffer.from([1, 2, 3, 4, 0x80, 5, 6, 1]))).toBeUndefined();
  });

  test('text is decoded and encoded without loss', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const decoded = decodeText(bytes);
        if (decoded === undefined) return true;
        const encoded = encodeText(decoded.text, decoded);
        return encoded.ok && Buffer.from(encoded.bytes).equals(Buffer.from(bytes));
      }),
      { numRuns: 500 },
    );
  });
});

describe('encodeText', () => {
  test('a character outside the encoding is named', () => {
    expect(encodeText('a→b', { encoding: 'windows-1252', bom: false })).toEqual({ ok: false, character: '→' });
  });
  test('a lone surrogate is refused', () => {
    expect(encodeText('a\ud83d', { encoding: 'utf-8', bom: false }).ok).toBe(false);
  });
});
