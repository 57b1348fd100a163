import { realpath } from 'node:fs/promises';
import type { AgentKind } from '../../../contracts/extension.ts';
import type { Rule } from '../../../contracts/permission.ts';
import { repositoryRoot } from '../../../git/repository-root.ts';
import type { HookFire } from '../../../hooks/create-hooks.ts';
import { messageOf } from '../../../lib/errors.ts';
import { ifThere } from '../../../lib/files/errno.ts';
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

/** Whose place it is to be; who goes on finds what it left, by the same name. */
export type PlaceWish = {
  readonly name: string;
  readonly agentId: string;
  readonly isolation: AgentKind['isolation'] | undefined;
};

/** Throws a sentence when it is to have a checkout of its own and can have none: it never works in the parent's instead. */
export async function openAgentPlace(
  core: Core,
  { name, agentId, isolation }: PlaceWish,
  parent: AgentStand,
  hooks: HookFire,
): Promise<AgentPlace> {
  if (isolation !== 'worktree') return sharedPlace(parent);
  const called = `${name.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '')}-${agentId.replace(/^agent_/, '')}`;
  const worktree = hooks.has('WorktreeCreate')
    ? await madeByHook(called, hooks)
    : await enterWorktree(parent.cwd, called, core.environment, core.trusted ? 'this-run' : undefined);
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

type Made = Pick<Worktree, 'path' | 'branch' | 'cwd' | 'leave'>;

const HOOK_MS = 120_000;

/** A hook may make it in its own way, for what is no git repository or needs more than a checkout; another takes it away. */
async function madeByHook(name: string, hooks: HookFire): Promise<Made> {
  const made = await hooks.fire('WorktreeCreate', { name }, AbortSignal.timeout(HOOK_MS));
  const path = made.worktreePath === undefined ? undefined : await ifThere(realpath(made.worktreePath));
  if (path === undefined) throw new Error(made.blocked ?? 'The WorktreeCreate hook named no folder that is there.');
  return {
    path,
    cwd: path,
    branch: name,
    async leave() {
      if (!hooks.has('WorktreeRemove')) return { is: 'kept', what: 'The work' };
      const { blocked } = await hooks.fire('WorktreeRemove', { worktree_path: path }, AbortSignal.timeout(HOOK_MS));
      return blocked === undefined ? { is: 'gone' } : { is: 'kept', what: 'The work' };
    },
  };
}

function sharedPlace(stand: AgentStand): AgentPlace {
  return { stand, rules: [], words: undefined, leave: async () => undefined };
}

async function endOf({ leave, path, branch }: Made): Promise<string | undefined> {
  try {
    const end = await leave();
    return end.is === 'gone'
      ? undefined
      : `${end.is === 'kept' ? end.what : 'Its worktree'} is in ${path} on branch ${branch}.`;
  } catch (thrown) {
    return `Its worktree ${path} on branch ${branch} stays: ${messageOf(thrown)}`;
  }
}
