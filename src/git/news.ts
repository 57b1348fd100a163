import type { GitSnapshot } from '../contracts/git-snapshot.ts';
import { oneLine } from '../lib/text/one-line.ts';

export type GitNewsParts = {
  /** What the prompt says of the repository. */
  readonly first: Promise<GitSnapshot | undefined>;
  readonly look: () => Promise<GitSnapshot | undefined>;
  readonly now: () => number;
};

const MAX_LINES = 20;
/** In a repository that takes longer, nobody looks a second time. */
const SLOW_MS = 1_000;

/** What others did to the repository while the model rested. Looked for in the background: no prompt ever waits for it. */
export function createGitNews({ first, look, now }: GitNewsParts) {
  let known = first;
  let news: string[] = [];
  let slow = false;
  let begun = false;

  async function lookAgain(before: GitSnapshot): Promise<GitSnapshot> {
    const startedAt = now();
    const after = await look();
    slow ||= now() - startedAt > SLOW_MS;
    return after ?? before;
  }

  return {
    /** A prompt has come: what is different since the last rest was done by others. */
    begin(): void {
      // The snapshot in the prompt is of just now.
      if (begun) {
        known = known.then(async (before) => {
          if (before === undefined || slow) return before;
          const after = await lookAgain(before);
          news.push(...changes(before, after));
          return after;
        });
      }
      begun = true;
    },
    /** The model rests: what stands now it has seen or done. */
    rest(): void {
      known = known.then((before) => (before === undefined || slow ? before : lookAgain(before)));
    },
    take(): readonly string[] {
      const taken = news;
      news = [];
      return taken;
    },
    /** All looks that were begun are done. */
    settled: async () => void (await known),
  };
}

function changes(before: GitSnapshot, after: GitSnapshot): readonly string[] {
  const commits = after.commits.filter((line) => !before.commits.includes(line));
  const isBack = commits.length === 0 && after.commits[0] !== before.commits[0];
  const lines = [
    ...commits.map((line) => `New commit: ${line}`),
    ...(isBack ? [`The newest commit is now: ${after.commits[0] ?? 'none'}`] : []),
    ...after.changes.filter((line) => !before.changes.includes(line)).map((line) => `Status: ${line}`),
    ...before.changes
      .filter((line) => !isListed(line, after))
      .map((line) => `No longer in the status: ${line.slice(3)}`),
  ];
  if (lines.length === 0) return [];
  const hidden = lines.length - MAX_LINES;
  const more = hidden > 0 ? [`and ${hidden} more`] : [];
  const shown = [...lines.slice(0, MAX_LINES).map(oneLine), ...more].map((line) => `  ${line}`);
  return [['The repository was changed outside this conversation:', ...shown].join('\n')];
}

function isListed(line: string, { changes: listed }: GitSnapshot): boolean {
  return listed.some((other) => other.slice(3) === line.slice(3));
}
