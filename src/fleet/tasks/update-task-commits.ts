import type { DueBatchSchedule, NewBatchTask } from '../../contracts/fleet.ts';
import type { FleetGit } from '../git/fleet-git.ts';
import { validateTaskCheckout } from '../git/validate-checkout-spec.ts';
import { createTaskKey } from './expand-tasks.ts';
import { createCommitResolver } from './find-task-targets.ts';
import { TaskFileError } from './task-file.ts';

/** The dependencies of renewing tasks. */
export type ScheduledTasksDeps = {
  readonly git: FleetGit;
  /** Returns whether the policy of this machine allows a repository. */
  readonly isAllowed: (url: string) => boolean;
};

/**
 * Returns the tasks of a schedule at the current commits of their repositories. Anyone with access to the queue may have
 * written them, so repositories are validated before git looks them up.
 */
export async function refreshScheduledTasks(
  { batch, tasks }: Pick<DueBatchSchedule, 'batch' | 'tasks'>,
  { git, isAllowed }: ScheduledTasksDeps,
): Promise<readonly NewBatchTask[]> {
  const { ref } = batch.collect;
  const resolveCommit = createCommitResolver(ref, git);
  const renewed: NewBatchTask[] = [];
  for (const task of tasks) {
    const { place } = task.spec;
    if (place === undefined) {
      renewed.push(task);
      continue;
    }
    const problem = validateTaskCheckout(place);
    if (problem !== undefined) throw new TaskFileError(problem);
    if (!isAllowed(place.url)) throw new TaskFileError(`this machine does not work on ${place.url}`);
    // A pinned commit is no ref of a remote repository.
    const commit = ref === place.commit ? ref : await resolveCommit(place.url);
    // The template {{repo.commit}} has put the commit into the prompt.
    const prompt = task.spec.prompt.replaceAll(place.commit, commit);
    const spec = { ...task.spec, prompt, place: { ...place, commit } };
    renewed.push({ ...task, key: createTaskKey(task.title, spec), spec });
  }
  return renewed;
}
