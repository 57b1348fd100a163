import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createThinkTagSplitter } from '../../../../src/model/providers/openai-chat/think-tags.ts';

function split(...pieces: string[]) {
  const splitter = createThinkTagSplitter();
  const spoken = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.flush()];
  const all = (kind: string) =>
    spoken
      .filter((part) => part.kind === kind)
      .map((part) => part.text)
      .join('');
  return { thinking: all('thinking'), text: all('text') };
}

describe('createThinkSplitter', () => {
  test('thinking at the start of a reply is separated, wherever chunks are split', () => {
    const reply = '\n<think>\nHm < 3 </thin no.</think>\n\nYes <think> is a tag.';
    fc.assert(
      fc.property(fc.array(fc.nat({ max: reply.length }), { maxLength: 8 }), (cuts) => {
        const ends = [...new Set(cuts)].sort((a, b) => a - b);
        const pieces = [...ends, reply.length].map((end, index) => reply.slice(index === 0 ? 0 : ends[index - 1], end));
        expect(split(...pieces)).toEqual({ thinking: 'Hm < 3 </thin no.', text: 'Yes <think> is a tag.' });
      }),
      { numRuns: 60 },
    );
  });

  test('a reply without thinking is unchanged, including blanks and partial tags', () => {
    expect(split('  Hi <think>')).toEqual({ thinking: '', text: '  Hi <think>' });
    expect(split('<thi')).toEqual({ thinking: '', text: '<thi' });
    expect(split('<think>never ends </th')).toEqual({ thinking: 'never ends </th', text: '' });
  });
});
