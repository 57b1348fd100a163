import type { Io } from '../io.ts';

const SILENCE_MS = 3_000;

/** The prompt from the command line, stdin or both: prompt, newline, stdin. `undefined` when there is none. */
export async function readPrompt(
  words: string | undefined,
  io: Pick<Io, 'stdin' | 'stderr'>,
  silenceMs: number = SILENCE_MS,
): Promise<string | undefined> {
  const piped = io.stdin.isTty || io.stdin.kind === 'none' ? '' : await readStdin(words, io, silenceMs);
  const parts = [words ?? '', piped].filter((part) => part.trim() !== '');
  return parts.length === 0 ? undefined : parts.join('\n');
}

async function readStdin(
  words: string | undefined,
  io: Pick<Io, 'stdin' | 'stderr'>,
  silenceMs: number,
): Promise<string> {
  const whole = readAll(io);
  // A pipe that somebody forgot to close must not keep a prompt waiting that is already there.
  if (words === undefined || io.stdin.kind === 'file') return whole.text;
  const { promise: silence, resolve } = Promise.withResolvers<'silent'>();
  const timer = setTimeout(() => resolve('silent'), silenceMs);
  const first = await Promise.race([whole.started, silence]);
  clearTimeout(timer);
  if (first !== 'silent') return whole.text;
  io.stderr.write('Nothing came on stdin, so the prompt goes alone. Close stdin with </dev/null to save the wait.\n');
  return '';
}

function readAll(io: Pick<Io, 'stdin'>): { readonly started: Promise<void>; readonly text: Promise<string> } {
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const text = (async () => {
    const decoder = new TextDecoder();
    const parts: string[] = [];
    try {
      for await (const chunk of io.stdin.chunks()) {
        parts.push(decoder.decode(chunk, { stream: true }));
        resolve();
      }
    } catch {
      // A closed or unreadable stdin is an empty one.
    }
    resolve();
    return [...parts, decoder.decode()].join('');
  })();
  return { started, text };
}
