import { basename } from 'node:path';
import { enterWorktree, type Worktree, type WorktreeEnd } from '../../app/session/worktree.ts';
import { messageOf } from '../../lib/errors.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import type { Invocation } from '../args/invocation.ts';
import type { Io } from '../io.ts';

/** `-w`: runs a face in a worktree of its own and tells afterwards what became of it. */
export async function inWorktree(
  invocation: Invocation,
  wanted: string,
  io: Io,
  face: (moved: Invocation) => Promise<number>,
): Promise<number> {
  let worktree: Awaited<ReturnType<typeof enterWorktree>>;
  try {
    worktree = await enterWorktree(io.cwd, wanted, io.environment, invocation.run.trust);
  } catch (thrown) {
    io.stderr.write(`${messageOf(thrown)}\n`);
    return 1;
  }
  io.stderr.write(`${worktree.words}\n`);
  const { cwd, trust } = worktree;
  const code = await face({ ...invocation, run: { ...invocation.run, cwd, trust } });
  const words = await worktree.leave().then(
    (end) => endWords(end, worktree),
    (thrown: unknown) => `The worktree stays: ${messageOf(thrown)}`,
  );
  io.stderr.write(`${words}\n`);
  return code;
}

function endWords(end: WorktreeEnd, { path, branch }: Worktree): string {
  switch (end.is) {
    case 'gone':
      return 'Nothing was changed, so the worktree is gone again.';
    case 'shared':
      return `Another ouro works in ${path}, so it stays.`;
    case 'kept':
      return `${end.what} is in ${path} on branch ${branch}. Go on with "ouro -w ${basename(path)} -c".`;
    default:
      return exhaustive(end);
  }
}
