/** A look at the repository, taken once. */
export type GitSnapshot = {
  readonly branch: string | undefined;
  /** Lines of a short status. */
  readonly changes: readonly string[];
  /** Newest first: `abc1234 Subject`. */
  readonly commits: readonly string[];
};
