import type { ProcessIo } from './process-io.ts';

/** Yes/no questions on the terminal. Several questions read from the same stdin stream until it is closed. */
export type YesNoPrompter = ReturnType<typeof createYesNoPrompter>;

/** Creates the prompter; questions go to stderr, so that stdout stays for results. */
export function createYesNoPrompter({ stdin, stderr }: Pick<ProcessIo, 'stdin' | 'stderr'>) {
  const input = stdin.chunks()[Symbol.asyncIterator]();
  return {
    /** Asks a question; only "y" and "yes" confirm. */
    async confirm(question: string): Promise<boolean> {
      stderr.write(`${question} [y/N] `);
      let line = '';
      while (!line.includes('\n')) {
        const { value, done } = await input.next();
        if (done === true) break;
        line += Buffer.from(value).toString('utf8');
      }
      return /^\s*y(?:es)?\s*$/i.test(line.split('\n')[0] ?? '');
    },
    async close() {
      await input.return?.();
    },
  };
}
