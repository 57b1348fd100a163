import type { Io } from '../io.ts';

/** Somebody at the terminal who can be asked more than once: what they type stays one stream until they are left. */
export type Person = {
  /** Answered with one key and Enter; anything but y is no. */
  readonly ask: (question: string) => Promise<boolean>;
  readonly leave: () => Promise<void>;
};

export function personAt({ stdin, stderr }: Pick<Io, 'stdin' | 'stderr'>): Person {
  const typed = stdin.chunks()[Symbol.asyncIterator]();
  return {
    async ask(question) {
      stderr.write(`${question} [y/N] `);
      let line = '';
      while (!line.includes('\n')) {
        const { value, done } = await typed.next();
        if (done === true) break;
        line += Buffer.from(value).toString('utf8');
      }
      return /^\s*y(?:es)?\s*$/i.test(line.split('\n')[0] ?? '');
    },
    async leave() {
      await typed.return?.();
    },
  };
}
