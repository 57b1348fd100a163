import type { AgentEvent } from '../contracts/event.ts';
import type { Feature } from '../contracts/feature.ts';
import type { GitSnapshot } from '../contracts/git-snapshot.ts';
import { formatOneLine } from '../lib/text/format.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';

/** Dependencies of `createGitChangesFeature`. */
export type GitChangesDeps = {
  /** Snapshot that the system prompt describes. */
  readonly initial: Promise<GitSnapshot | undefined>;
  readonly readSnapshot: () => Promise<GitSnapshot | undefined>;
  readonly now: () => number;
};

const MAX_LINES = 20;
/** In a repository whose snapshot takes longer, no further snapshots are read. */
const SLOW_MS = 1_000;

/**
 * Creates the feature that reports changes made outside the conversation. It looks in the background: no prompt waits
 * for it.
 */
export function createGitChangesFeature({ initial, readSnapshot, now }: GitChangesDeps) {
  let latest = initial;
  let notices: string[] = [];
  let isSlow = false;
  let hasBegun = false;

  async function readLatest(before: GitSnapshot): Promise<GitSnapshot> {
    const startedAt = now();
    const after = await readSnapshot();
    isSlow ||= now() - startedAt > SLOW_MS;
    return after ?? before;
  }

  /** Differences since the end of the last run were made by others. */
  function compare(): void {
    // Before the first prompt, the snapshot in the system prompt is up to date.
    if (hasBegun) {
      latest = latest.then(async (before) => {
        if (before === undefined || isSlow) return before;
        const after = await readLatest(before);
        notices.push(...describeChanges(before, after));
        return after;
      });
    }
    hasBegun = true;
  }

  return {
    name: 'git changes',
    onEvent({ type }: AgentEvent): void {
      if (type === 'agent_start') compare();
      // The model has seen or made everything up to now.
      if (type === 'agent_end')
        latest = latest.then((before) => (before === undefined || isSlow ? before : readLatest(before)));
    },
    async reminders(): Promise<readonly string[]> {
      const taken = notices;
      notices = [];
      return taken.map(wrapInReminder);
    },
    /** Resolves when no snapshot is being read any more. */
    whenSettled: async () => void (await latest),
  } satisfies Feature & Record<string, unknown>;
}

function describeChanges(before: GitSnapshot, after: GitSnapshot): readonly string[] {
  const commits = after.commits.filter((line) => !before.commits.includes(line));
  const isReset = commits.length === 0 && after.commits[0] !== before.commits[0];
  const lines = [
    ...commits.map((line) => `New commit: ${line}`),
    ...(isReset ? [`The newest commit is now: ${after.commits[0] ?? 'none'}`] : []),
    ...after.changes.filter((line) => !before.changes.includes(line)).map((line) => `Status: ${line}`),
    ...before.changes
      .filter((line) => !isListed(line, after))
      .map((line) => `No longer in the status: ${line.slice(3)}`),
  ];
  if (lines.length === 0) return [];
  const hidden = lines.length - MAX_LINES;
  const more = hidden > 0 ? [`and ${hidden} more`] : [];
  const shown = [...lines.slice(0, MAX_LINES).map(formatOneLine), ...more].map((line) => `  ${line}`);
  return [['The repository was changed outside this conversation:', ...shown].join('\n')];
}

function isListed(line: string, { changes: listed }: GitSnapshot): boolean {
  return listed.some((other) => other.slice(3) === line.slice(3));
}
