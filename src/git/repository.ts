import type { GitSnapshot } from '../contracts/git-snapshot.ts';
import { headBranch } from './head-branch.ts';
import { repositoryRoot } from './repository-root.ts';
import { gitSnapshot } from './snapshot.ts';

/** The repository a conversation is held in. In a folder nobody trusts, git is not asked and nothing of it is read. */
export type Repository = {
  /** The top of the repository; the folder itself outside of one. */
  readonly root: string;
  readonly branchAtStart: string | undefined;
  /** How it stood when the conversation began. */
  readonly atStart: Promise<GitSnapshot | undefined>;
  look(): Promise<GitSnapshot | undefined>;
  branch(): Promise<string | undefined>;
};

export async function openRepository(
  cwd: string,
  {
    variables,
    trusted,
    mayLook,
  }: {
    readonly variables: Readonly<Record<string, string>>;
    readonly trusted: boolean;
    /** Looking for changes runs filters, and no override removes a filter. */
    readonly mayLook: () => boolean;
  },
): Promise<Repository> {
  const root = repositoryRoot(cwd);
  const look = async () => (trusted ? gitSnapshot(cwd, variables, mayLook) : undefined);
  const branch = async () => (trusted ? headBranch(root) : undefined);
  // A look takes longer than the file with the branch, so it begins first.
  const atStart = look();
  return { root, branchAtStart: await branch(), atStart, look, branch };
}
