import { randomBytes } from 'node:crypto';
import type { AgentKind } from '../../../contracts/extension.ts';
import type { Rule } from '../../../contracts/permission.ts';
import { repositoryRoot } from '../../../git/repository-root.ts';
import { messageOf } from '../../../lib/errors.ts';
import { rulesOfTexts } from '../../../permissions/rules/collect-rules.ts';
import type { AgentStand } from '../../../tools/task/call-owners.ts';
import type { Core } from '../../core.ts';
import { literal } from '../../permissions/policy.ts';
import { enterWorktree, type Worktree } from '../../session/worktree.ts';

/** Where a sub-agent works: where its parent does, or in a checkout of its own. */
export type AgentPlace = {
  readonly stand: AgentStand;
  /** What its gate knows besides: the checkout it was kept out of stays as it is. */
  readonly rules: readonly Rule[];
  /** What it is told of where it is; the facts of the session name another folder. */
  readonly words: string | undefined;
  /** Its work is over: what is left of it, for whoever asked for it. */
  leave(): Promise<string | undefined>;
};

/** Throws a sentence when it is to have a checkout of its own and can have none: it never works in the parent's instead. */
export async function openAgentPlace(
  core: Core,
  { name, isolation }: { readonly name: string; readonly isolation: AgentKind['isolation'] | undefined },
  parent: AgentStand,
): Promise<AgentPlace> {
  if (isolation !== 'worktree') return sharedPlace(parent);
  const called = `${name.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '')}-${randomBytes(3).toString('hex')}`;
  const worktree = await enterWorktree(parent.cwd, called, core.environment, core.trusted ? 'this-run' : undefined);
  const { path, branch, cwd } = worktree;
  const root = repositoryRoot(parent.cwd);
  const { live } = core;
  live.change({ directories: [...live.now().directories, path] });
  return {
    stand: { cwd, root: path },
    rules: rulesOfTexts([`Edit(/${literal(root)}/**)`], 'deny', { source: 'session', root }),
    words: `You work in a git worktree of your own: ${path}, on branch ${branch}. Everything above about the working directory is about another checkout of the same repository, ${root}, which you must not change. The files of your task have the same paths below ${path}; what was not committed in the other checkout is not here.`,
    async leave() {
      const left = await endOf(worktree);
      if (left === undefined) live.change({ directories: live.now().directories.filter((one) => one !== path) });
      return left;
    },
  };
}

function sharedPlace(stand: AgentStand): AgentPlace {
  return { stand, rules: [], words: undefined, leave: async () => undefined };
}

async function endOf({ leave, path, branch }: Worktree): Promise<string | undefined> {
  try {
    const end = await leave();
    return end.is === 'gone'
      ? undefined
      : `${end.is === 'kept' ? end.what : 'Its worktree'} is in ${path} on branch ${branch}.`;
  } catch (thrown) {
    return `Its worktree ${path} on branch ${branch} stays: ${messageOf(thrown)}`;
  }
}
