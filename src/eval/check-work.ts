import { join } from 'node:path';
import type { LoadedSettings } from '../contracts/settings.ts';
import type { TaskWorktree } from '../fleet/git/task-patch.ts';
import { openTaskSandbox, type TaskRunSettings } from '../fleet/worker/task-sandbox.ts';
import type { WorkerPolicy } from '../fleet/worker/worker-policy.ts';
import type { EvalTask } from './eval-task.ts';
import { copyEvalTemplate, type EvalTemplate, type EvalTemplateDeps, writeFolderFiles } from './eval-template.ts';

/** The dependencies of checks. */
export type EvalCheckDeps = EvalTemplateDeps & {
  readonly policy: WorkerPolicy;
  /** Reads the settings that ouro would have in a folder, which is not trusted. */
  readonly readSettings: (run: TaskRunSettings) => Promise<LoadedSettings>;
};

type Work = { readonly template: EvalTemplate; readonly worktree: TaskWorktree };

const CHECK_TIMEOUT_MS = 120_000;
const MAX_OUTPUT_CHARS = 300;

/** Runs the check of a task on finished work. Returns why it has not passed. */
export function runEvalCheck(
  task: EvalTask,
  work: Work,
  deps: EvalCheckDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  return runCommand(task, { ...task.check, name: 'check' }, work, deps, signal);
}

type Command = EvalTask['check'] & { readonly name: string };

/** Runs a command of a task in the sandbox that the commands of the model have. Returns why it failed. */
async function runCommand(
  { mode, allowedTools }: EvalTask,
  { run, files, name }: Command,
  { template, worktree }: Work,
  deps: EvalCheckDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const spec = { mode, allowedTools, env: [], disallowedTools: [] };
  const sandbox = await openTaskSandbox(deps, spec, { cwd: worktree.folder, mirror: template.mirror });
  try {
    if (sandbox.problem !== undefined) throw new Error(sandbox.problem);
    await writeFolderFiles(worktree.folder, files);
    const end = await sandbox.run(run, { timeoutMs: CHECK_TIMEOUT_MS, signal });
    if (end.code === 0) return undefined;
    const output = `${end.stdout.toString('utf8')}\n${end.stderr.toString('utf8')}`.trim().slice(-MAX_OUTPUT_CHARS);
    return end.timedOut ? `the ${name} took too long` : `the ${name} ended with ${end.code ?? 'a signal'}: ${output}`;
  } finally {
    sandbox.close();
  }
}

/** Proves the check of a task: it must fail at the start and pass after the solution. Returns what is wrong. */
export async function validateEvalTask(
  task: EvalTask,
  template: EvalTemplate,
  deps: EvalCheckDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { solution } = task;
  if (solution === undefined) return 'it has no solution';
  const start = async (name: string) => ({
    template,
    worktree: await copyEvalTemplate(template, join(deps.root, 'runs', `${task.name}.${name}`)),
  });
  if ((await runEvalCheck(task, await start('unsolved'), deps, signal)) === undefined)
    return 'its check passes without any change';
  const solved = await start('solved');
  const command = { run: `set -e\n${solution}`, files: {}, name: 'solution' };
  return (await runCommand(task, command, solved, deps, signal)) ?? runEvalCheck(task, solved, deps, signal);
}
