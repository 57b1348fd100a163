import type { PullRequestView } from '../../contracts/fleet.ts';

/** A pull request to open or to update. */
export type PullRequest = {
  /** Address of the repository. */
  readonly url: string;
  readonly branch: string;
  /** Branch to merge into; by default that of the repository. */
  readonly base: string | undefined;
  /** Set if the branch was updated, so that a pull request that is open already gets the new text. */
  readonly isUpdate: boolean;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  readonly labels: readonly string[];
  readonly reviewers: readonly string[];
};

/** A service that hosts repositories and their pull requests. */
export type Forge = {
  /** Opens a pull request, or finds the open one of the branch and edits it after an update. Returns its address. */
  publish(request: PullRequest): Promise<string>;
  /** Returns the present state of a pull request of a repository. */
  look(url: string, address: string): Promise<PullRequestView>;
};
