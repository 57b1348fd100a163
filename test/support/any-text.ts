import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };

const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((at) => String.fromCodePoint(at < SURROGATES.from ? at : at + SURROGATES.count));

/** Generates text of any code points. The generator of fast-check spends half a second on a table of all. */
export function anyText(constraints: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: codePoint, ...constraints });
}
