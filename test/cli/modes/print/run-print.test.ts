import { expect, test } from 'vitest';
import { readPromptFromArgsAndStdin } from '../../../../src/cli/modes/print/run-print.ts';
import type { ProcessIo } from '../../../../src/command/process-io.ts';

type Kind = ProcessIo['stdin']['kind'];

function io(kind: Kind, chunks: () => AsyncIterable<Uint8Array>, isTty = false) {
  const warnings: string[] = [];
  return {
    warnings,
    stdin: { isTty, kind, chunks },
    stderr: { isTty: false, write: (text: string) => void warnings.push(text) },
  };
}

async function* bytes(...texts: readonly string[]): AsyncGenerator<Uint8Array, void> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {
  await new Promise(() => undefined);
}

async function* broken(): AsyncGenerator<Uint8Array, void> {
  yield* bytes('half');
  throw new Error('EBADF');
}

test.each<[string, string | undefined, Kind, () => AsyncIterable<Uint8Array>, string | undefined]>([
  ['words alone', 'hello', 'none', () => bytes('unread'), 'hello'],
  ['stdin alone', undefined, 'stream', () => bytes('a', 'b'), 'ab'],
  ['both: prompt, newline, stdin', 'review this', 'stream', () => bytes('diff'), 'review this\ndiff'],
  ['both, from a file', 'review this', 'file', () => bytes('diff'), 'review this\ndiff'],
  ['an empty pipe behind words', 'hello', 'stream', () => bytes(), 'hello'],
  ['nothing at all', undefined, 'stream', () => bytes(), undefined],
  ['blanks', '  ', 'stream', () => bytes('\n'), undefined],
  ['stdin that breaks', undefined, 'stream', broken, 'half'],
])('%s', async (_, words, kind, chunks, prompt) => {
  expect(await readPromptFromArgsAndStdin(words, io(kind, chunks))).toBe(prompt);
});

test('a terminal on stdin is not read', async () => {
  expect(await readPromptFromArgsAndStdin('hello', io('none', nothing, true))).toBe('hello');
});

test('characters split across chunks are decoded', async () => {
  const [whole] = [new TextEncoder().encode('é')];
  const halves = async function* () {
    yield whole.slice(0, 1);
    yield whole.slice(1);
  };
  expect(await readPromptFromArgsAndStdin(undefined, io('stream', halves))).toBe('é');
});

test('a silent pipe does not delay a prompt', async () => {
  const silent = io('stream', nothing);
  expect(await readPromptFromArgsAndStdin('hello', silent, 1)).toBe('hello');
  expect(silent.warnings).toEqual([expect.stringContaining('No input on stdin')]);
});
