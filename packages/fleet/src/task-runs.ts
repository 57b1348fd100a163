/** Tasks run as the fleet runs them: a worktree, a child process of ouro, its sandbox and its verdict. */

export { getTaskWorktreesRoot } from './cli/run-worker-in-process.ts';
export { createFleetGit, type FleetGit, requireGitOutput } from './git/fleet-git.ts';
export { openRepositoryMirrors } from './git/repository-mirrors.ts';
export { createTaskPatch, type TaskWorkPatch, type TaskWorktree } from './git/task-patch.ts';
export { isRemoteRepositoryUrl } from './git/validate-checkout-spec.ts';
export { createCommitResolver } from './tasks/find-task-targets.ts';
export { parseYaml, validateFileContent } from './tasks/task-file.ts';
export { convertUsdToMicroDollars } from './worker/child-output.ts';
export { classifyTaskRun, type TaskRunVerdict } from './worker/classify-task-run.ts';
export {
  type ChildRunResult,
  createTaskCheckEnvironment,
  createTaskChildEnvironment,
  runOuroChild,
} from './worker/run-ouro-child.ts';
export { openTaskSandbox, type TaskRunSettings } from './worker/task-sandbox.ts';
export { createTaskManagedSettings, createTaskRunSettings, type WorkerPolicy } from './worker/worker-policy.ts';
