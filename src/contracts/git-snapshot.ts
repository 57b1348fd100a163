/** The state of a repository at one moment. */
export type GitSnapshot = {
  readonly branch: string | undefined;
  /** Operation that was begun and not finished. */
  readonly operation?: 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect';
  /** Lines of `git status --short`. */
  readonly changes: readonly string[];
  /** Recent commits, newest first: `abc1234 Subject`. */
  readonly commits: readonly string[];
};
