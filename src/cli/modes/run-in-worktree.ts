import { basename } from 'node:path';
import { enterWorktree, type SessionWorktree, type WorktreeEnd } from '../../app/session/worktree.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import { exhaustive, getErrorMessage } from '../../lib/errors.ts';
import type { CliInvocation } from '../args/invocation.ts';

/** Runs a mode in a git worktree (`-w`) and reports on stderr whether the worktree was removed or kept. */
export async function runInWorktree(
  invocation: CliInvocation,
  name: string,
  io: ProcessIo,
  runMode: (worktreeInvocation: CliInvocation) => Promise<number>,
): Promise<number> {
  let worktree: Awaited<ReturnType<typeof enterWorktree>>;
  try {
    worktree = await enterWorktree(io.cwd, name, io.environment, invocation.run.trust);
  } catch (thrown) {
    io.stderr.write(`${getErrorMessage(thrown)}\n`);
    return 1;
  }
  io.stderr.write(`${worktree.message}\n`);
  const { cwd, trust } = worktree;
  const code = await runMode({ ...invocation, run: { ...invocation.run, cwd, trust } });
  const message = await worktree.leave().then(
    (end) => formatEnd(end, worktree),
    (thrown: unknown) => `Worktree kept: ${getErrorMessage(thrown)}`,
  );
  io.stderr.write(`${message}\n`);
  return code;
}

function formatEnd(end: WorktreeEnd, { path, branch }: SessionWorktree): string {
  switch (end.kind) {
    case 'gone':
      return 'Worktree removed: it had no changes.';
    case 'shared':
      return `Worktree kept: another ouro process works in ${path}.`;
    case 'kept':
      return `${end.what} is in ${path} on branch ${branch}. Continue with "ouro -w ${basename(path)} -c".`;
    default:
      return exhaustive(end);
  }
}
