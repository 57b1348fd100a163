import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getReplyJournalPath, getSessionFolder, getSubAgentPath, getTranscriptPath } from '../../src/session/paths.ts';
import { anyText } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';

test.each(['a', 'user-42', 'ada@example.com', '2026-11-23_x', 'größe', '日本', crypto.randomUUID(), 'x'.repeat(200)])(
  'the id %s is valid',
  (id) => {
    expect(getTranscriptPath('/s', id)).toBe(join('/s', `${id}.jsonl`));
  },
);

test.each([
  ...['', '.', '..', '../x', 'a/b', '/etc/passwd', 'a\\b', 'C:x', 'a\0b', 'a\nb', '.hidden', 'x.', 'x ', ' x'],
  ...['a*', 'a?', 'a|b', '"a"', '<a>', 'nul', 'NUL.x', 'com1', 'x'.repeat(201), 'ä'.repeat(101), '..\\..\\x'],
])('the id %j is refused', (id) => {
  expect(() => getTranscriptPath('/s', id)).toThrow('is not a plain name');
  expect(() => getSessionFolder('/s', id)).toThrow('is not a plain name');
  expect(() => getReplyJournalPath('/s', id)).toThrow('is not a plain name');
});

test('no id leaves its folder', () => {
  const id = fc.oneof(anyText(), fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', ':') }));
  fc.assert(
    fc.property(id, (text) => {
      for (const getPath of [getTranscriptPath, getSessionFolder, getSubAgentPath]) {
        const path = tryPath(() => getPath('/s', text));
        const folder = getPath === getSubAgentPath ? '/s/subagents' : '/s';
        if (path !== undefined) expect(dirname(path)).toBe(folder);
      }
    }),
    runs(2_000),
  );
});

function tryPath(getPath: () => string): string | undefined {
  try {
    return getPath();
  } catch {
    return undefined;
  }
}
