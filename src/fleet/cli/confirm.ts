import type { ProcessIo } from '../../cli/process-io.ts';

/** Yes/no questions on the terminal. Several questions read from the same stdin stream until it is closed. */
export type YesNoPrompter = {
  /** Asks a question; only "y" and "yes" confirm. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
};

export function createYesNoPrompter({ stdin, stderr }: Pick<ProcessIo, 'stdin' | 'stderr'>): YesNoPrompter {
  const input = stdin.chunks()[Symbol.asyncIterator]();
  return {
    async confirm(question) {
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
