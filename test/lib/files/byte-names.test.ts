import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOfPath, diskPath, nameOf, shownPath } from '../../../src/lib/files/byte-names.ts';
import { runs } from '../../support/runs.ts';

/** Bytes at random, among them halves of characters and characters that stand for bytes. */
const bytes = fc
  .array(fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.constantFrom('ü', '\u{10ee85}', '\u{1f600}', '\ufffd')), {
    maxLength: 6,
  })
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));

test('whatever bytes a name has, as text it leads back to them, also through JSON and as a part of a path', () => {
  fc.assert(
    fc.property(bytes, (name) => {
      const text: string = JSON.parse(JSON.stringify(nameOf(name)));
      expect(bytesOfPath(text)).toEqual(name);
      expect(bytesOfPath(dirname(join('/a', `x${text.replaceAll('/', '')}`, 'b')))).toEqual(
        Buffer.concat([Buffer.from('/a/x'), name.filter((byte) => byte !== 0x2f)]),
      );
    }),
    runs(2_000),
  );
});

test('text stays text, also where it only looks like a name that was lost', () => {
  for (const name of ['a', 'ü\u{1f600}', 'lost \ufffd', '\ufffd'])
    expect([nameOf(Buffer.from(name)), diskPath(name)]).toEqual([name, name]);
  expect(shownPath(nameOf(Buffer.from([0x61, 0xff, 0xc3])))).toBe('a\ufffd\ufffd');
});
