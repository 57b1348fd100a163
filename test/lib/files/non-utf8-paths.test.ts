import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { convertPathToBytes, decodeFileName, encodeFsPath, formatPath } from '../../../src/lib/files/non-utf8-paths.ts';
import { runs } from '../../support/runs.ts';

/** Bytes at random, among them halves of characters and characters that stand for bytes. */
const bytes = fc
  .array(fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.constantFrom('ü', '\u{10ee85}', '\u{1f600}', '\ufffd')), {
    maxLength: 6,
  })
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));

test('any bytes of a name can be restored from its text, also through JSON and in a part of a path', () => {
  fc.assert(
    fc.property(bytes, (name) => {
      const text: string = JSON.parse(JSON.stringify(decodeFileName(name)));
      expect(convertPathToBytes(text)).toEqual(name);
      expect(convertPathToBytes(dirname(join('/a', `x${text.replaceAll('/', '')}`, 'b')))).toEqual(
        Buffer.concat([Buffer.from('/a/x'), name.filter((byte) => byte !== 0x2f)]),
      );
    }),
    runs(2_000),
  );
});

test('text is unchanged, also if it looks like an encoded name', () => {
  for (const name of ['a', 'ü\u{1f600}', 'lost \ufffd', '\ufffd'])
    expect([decodeFileName(Buffer.from(name)), encodeFsPath(name)]).toEqual([name, name]);
  expect(formatPath(decodeFileName(Buffer.from([0x61, 0xff, 0xc3])))).toBe('a\ufffd\ufffd');
});
