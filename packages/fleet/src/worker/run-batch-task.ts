import { rm, statfs } from 'node:fs/promises';
import { formatOneLine, getErrnoCode, getErrorMessage, redactSecrets } from '@ouro-cli/ouro/commands';
import { redactPersonalNames } from '@ouro-cli/ouro/sessions';
import { createTaskPatch, MAX_PATCH_BYTES, type TaskWorkPatch } from '../git/task-patch.ts';
import type { AttemptHeartbeat, BatchTaskResult, TaskArtifactKind, TaskAttemptEnd, TaskClaim } from '../store/batch.ts';
import type { BatchTaskDeps } from './batch-task-deps.ts';
import type { TaskRunVerdict } from './classify-task-run.ts';
import {
  getTaskWorkFolder,
  type PreparedTaskAttempt,
  prepareTaskAttempt,
  readTaskSession,
} from './prepare-task-attempt.ts';

import { StartFailure } from './run-ouro-child.ts';
import { runTaskUntilVerified, type TaskWorkListeners, type TaskWorkResult } from './run-task-until-verified.ts';
import { describeMissingSandbox, openTaskSandbox } from './task-sandbox.ts';
import { findTaskSignatureProblem } from './task-signature.ts';
import { findPolicyViolation } from './worker-policy.ts';

/** The files of an attempt to store. */
type TaskFiles = Readonly<Partial<Record<TaskArtifactKind, Uint8Array>>>;

/** The end of an attempt, with its last heartbeat and its files. */
export type TaskRunOutcome = {
  readonly ending: TaskAttemptEnd;
  readonly lastHeartbeat: AttemptHeartbeat;
  readonly files: TaskFiles;
  /** Set if the lane or the batch must pause, or this machine cannot run tasks. */
  readonly problem?: Exclude<TaskRunVerdict, { kind: 'answered' | 'ended' }>;
};

/** Runs an attempt of a task, from the checkout to its patch. Failures of the task are returned, not thrown. */
export async function runBatchTask(
  claim: TaskClaim,
  deps: BatchTaskDeps,
  listeners: TaskWorkListeners,
  signal: AbortSignal,
): Promise<TaskRunOutcome> {
  const outcome = await runUntilEnd(claim, deps, listeners, signal);
  const isVerified = outcome.ending.kind === 'done' && outcome.ending.result.verified === 'yes';
  if (outcome.ending.kind === 'back' || isVerified || !(await isDiskFull(deps.workRoot))) return outcome;
  // Whatever git and the model say then, and the model may well say that it is done: the disk is the cause.
  const message = `the disk of ${deps.workRoot} is full`;
  const { patch: _patch, ...files } = outcome.files;
  return { ...outcome, files, ending: returnToQueue(message), problem: { kind: 'machine-failed', message } };
}

/** A disk with less free space is full. */
const MIN_FREE_BYTES = 1_000_000;

async function isDiskFull(folder: string): Promise<boolean> {
  const disk = await statfs(folder).catch(() => undefined);
  return disk !== undefined && disk.bavail * disk.bsize < MIN_FREE_BYTES;
}

async function runUntilEnd(
  claim: TaskClaim,
  deps: BatchTaskDeps,
  listeners: TaskWorkListeners,
  signal: AbortSignal,
): Promise<TaskRunOutcome> {
  const refusal = await findRefusal(claim, deps);
  if (refusal !== undefined) return createFailure(refusal);
  if (claim.budget <= 0) return createFailure('its budget is used up');
  let prepared: PreparedTaskAttempt;
  try {
    prepared = await prepareTaskAttempt(claim, deps);
  } catch (thrown) {
    return convertError(thrown);
  }
  const sandbox = await openTaskSandbox(deps, claim.spec, { cwd: prepared.cwd, mirror: prepared.worktree?.mirror });
  if (sandbox.problem !== undefined) return createFailure(describeMissingSandbox(sandbox.problem));
  const autosave = startAutosave(prepared, deps);
  try {
    const work = await runTaskUntilVerified({ claim, prepared, sandbox, deps }, listeners, signal);
    await autosave.stop();
    const end = await createTaskEnd({ claim, prepared, deps, work }, signal);
    return { ...end, ending: deps.secrets.redactEnd(end.ending) };
  } catch (thrown) {
    return convertError(thrown);
  } finally {
    sandbox.close();
    await autosave.stop();
  }
}

/** Deletes the worktree of a task, whose results are in the store. */
export async function deleteTaskWorkFolder(claim: TaskClaim, { workRoot, mirrors }: BatchTaskDeps): Promise<void> {
  const folder = getTaskWorkFolder(workRoot, claim.batch, claim.key);
  await rm(`${folder}.child`, { force: true });
  if (claim.spec.place === undefined) await rm(folder, { recursive: true, force: true });
  else await mirrors.removeClone(claim.spec.place, folder);
}

async function findRefusal(claim: TaskClaim, { policy }: BatchTaskDeps): Promise<string | undefined> {
  const refusal = findPolicyViolation(policy, claim);
  if (refusal !== undefined || policy.allowedSigners === undefined) return refusal;
  return findTaskSignatureProblem(claim.batch, claim, policy.allowedSigners);
}

const NO_COST: AttemptHeartbeat = { cost: 0 };

function createFailure(reason: string): TaskRunOutcome {
  return { ending: { kind: 'failed', reason, again: 'never' }, lastHeartbeat: NO_COST, files: {} };
}

/** Errors of the machine: no disk space, no program, no write permission. Other errors fail the task. */
const MACHINE_ERRNOS = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EMFILE', 'ENFILE', 'EIO'];
const MACHINE_MESSAGES =
  /No space left on device|Disk quota exceeded|spawn git ENOENT|Executable not found|command not found: git/i;

function convertError(thrown: unknown): TaskRunOutcome {
  const message = formatOneLine(getErrorMessage(thrown));
  const isStartFailure = thrown instanceof StartFailure;
  const isMachineErrno = MACHINE_ERRNOS.includes(getErrnoCode(thrown) ?? '');
  if (isStartFailure || isMachineErrno || MACHINE_MESSAGES.test(getErrorMessage(thrown)))
    return {
      ...createFailure(message),
      ending: returnToQueue(message),
      problem: { kind: 'machine-failed', message: message },
    };
  return createFailure(message);
}

const returnToQueue = (reason: string): TaskAttemptEnd => ({ kind: 'back', reason, afterMs: 1_000 });

type FinishedWork = {
  readonly claim: TaskClaim;
  readonly prepared: PreparedTaskAttempt;
  readonly deps: BatchTaskDeps;
  readonly work: TaskWorkResult;
};

async function createTaskEnd(finished: FinishedWork, signal: AbortSignal): Promise<TaskRunOutcome> {
  const { prepared, deps, work } = finished;
  const changes = prepared.worktree === undefined ? undefined : await createTaskPatch(deps.git, prepared.worktree);
  const transcript = await readTaskSession(prepared, deps, work.lastHeartbeat.session ?? prepared.session.id);
  const problem = changes === undefined ? undefined : validatePatch(changes, deps);
  const filesWithPatchAs = (kind: 'patch' | 'unfinished'): TaskFiles => ({
    ...(changes === undefined || problem !== undefined ? {} : { [kind]: changes.patch }),
    ...(transcript === undefined ? {} : { transcript }),
  });
  const { verdict, lastHeartbeat } = work;
  const unfinished = filesWithPatchAs('unfinished');
  if (signal.aborted) return { ending: returnToQueue(String(signal.reason)), lastHeartbeat, files: unfinished };
  if (verdict.kind === 'ended') return { ending: verdict.ending, lastHeartbeat, files: unfinished };
  if (verdict.kind !== 'answered')
    return {
      ending: returnToQueue(
        verdict.kind === 'lane-skipped' ? `${deps.machine}: ${verdict.reason.message}` : verdict.message,
      ),
      lastHeartbeat,
      files: unfinished,
      problem: verdict,
    };
  const files = filesWithPatchAs('patch');
  if (problem !== undefined) return { ...createFailure(problem), lastHeartbeat, files };
  const mark = findDoubt(finished, changes);
  return {
    ending: { kind: 'done', result: createResult(finished, changes), ...(mark === undefined ? {} : { mark }) },
    lastHeartbeat,
    files,
  };
}

/** Returns a doubt about a result: the model may take work that was cut off for work that is done. */
function findDoubt({ claim, work }: FinishedWork, changes: TaskWorkPatch | undefined): string | undefined {
  if (changes === undefined || changes.stat.files > 0) return undefined;
  if (work.isCut) return 'a reply was cut off, and nothing was changed';
  return claim.previousAttempt === undefined ? undefined : 'it was interrupted, and nothing was changed';
}

/** Returns why a patch cannot be stored. */
function validatePatch({ patch }: TaskWorkPatch, { secrets }: BatchTaskDeps): string | undefined {
  if (patch.length > MAX_PATCH_BYTES) return 'its patch is larger than 16 MB';
  return secrets.isContainedIn(patch) ? 'its patch contains a key or token of the machine it ran on' : undefined;
}

const UNKNOWN_USER = { home: '', user: '' };

function createResult({ prepared, deps, work }: FinishedWork, changes: TaskWorkPatch | undefined): BatchTaskResult {
  const { verdict } = work;
  const run = verdict.kind === 'answered' ? verdict.end : undefined;
  const structured = run?.structured;
  return {
    // Everyone with access to the queue can read the results.
    answer: redactSecrets(run?.text ?? ''),
    ...(structured === undefined ? {} : { structured: redactPersonalNames(structured, UNKNOWN_USER) }),
    verified: work.verified,
    turns: work.turns,
    machine: deps.machine,
    session: work.lastHeartbeat.session ?? '',
    denials: work.denials,
    stat: changes?.stat ?? { files: 0, added: 0, removed: 0 },
    notes: prepared.notes,
  };
}

const FIRST_SAVE_MS = 2_000;
const SAVE_INTERVAL_MS = 60_000;
const MAX_UNFINISHED_BYTES = 1_000_000;

/** Stores the session and the changes of a running task at intervals, so that another machine can continue it. */
function startAutosave(prepared: PreparedTaskAttempt, deps: BatchTaskDeps): { readonly stop: () => Promise<void> } {
  const { saveFile } = deps;
  const { worktree } = prepared;
  if (saveFile === undefined || worktree === undefined) return { stop: async () => undefined };
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function saveProgress(
    store: NonNullable<BatchTaskDeps['saveFile']>,
    worktree: NonNullable<PreparedTaskAttempt['worktree']>,
  ): Promise<void> {
    const transcript = await readTaskSession(prepared, deps, prepared.session.id);
    const { patch } = await createTaskPatch(deps.git, worktree);
    if (isStopped) return;
    if (transcript !== undefined) await store('transcript', transcript);
    if (patch.length <= MAX_UNFINISHED_BYTES && !deps.secrets.isContainedIn(patch)) await store('unfinished', patch);
  }

  const schedule = (ms: number) => {
    timer = setTimeout(() => {
      // Files may change meanwhile and the store may be unavailable: the next save tries again.
      running = saveProgress(saveFile, worktree).catch(() => undefined);
      void running.then(() => isStopped || schedule(SAVE_INTERVAL_MS));
    }, ms);
  };
  schedule(FIRST_SAVE_MS);
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
