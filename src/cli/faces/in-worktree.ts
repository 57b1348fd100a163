import { enterWorktree } from '../../app/start/worktree.ts';
import { messageOf } from '../../lib/errors.ts';
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
  const words = await worktree.leave().catch((thrown: unknown) => `The worktree stays: ${messageOf(thrown)}`);
  io.stderr.write(`${words}\n`);
  return code;
}
