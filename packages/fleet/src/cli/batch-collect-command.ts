import { isUtf8 } from 'node:buffer';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type BatchFlags, formatOneLine, getErrorMessage, sanitize, UsageError } from '@ouro-cli/ouro/commands';
import { createFleetGit, type FleetGit, requireGitOutput } from '../git/fleet-git.ts';
import { openForge } from '../git/open-forge.ts';
import { commitPatch, hasRemoteBranch, pushBranch } from '../git/publish-patch.ts';
import { openRepositoryMirrors } from '../git/repository-mirrors.ts';
import { isRemoteRepositoryUrl, isSafeFolderName, validateTaskCheckout } from '../git/validate-checkout-spec.ts';
import type { BatchStatus, BatchTaskCheckout, BatchTaskView } from '../store/batch.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import { renderPullRequestBody } from '../tasks/expand-tasks.ts';
import { BATCH_EXIT_CODES, type BatchCommandInput } from './batch-run-command.ts';
import { findBatch } from './batch-show-commands.ts';
import { openTaskQueue } from './open-task-queue.ts';
import { getTaskWorktreesRoot } from './run-worker-in-process.ts';

type TaskPatch = { readonly task: BatchTaskView; readonly patch: Uint8Array };
type CollectFormat = 'patches' | 'branch' | 'pr' | 'json';

/** Runs `ouro batch collect ID`: writes patches, or creates branches or pull requests, of the finished tasks. */
export async function runBatchCollectCommand(request: BatchCommandInput): Promise<number> {
  const { args, flags, io } = request;
  const { store } = await openTaskQueue(io, flags.queue);
  try {
    const batch = await findBatch(store, args[1]);
    const taskPatches = await loadPatches(store, batch, io);
    const format = resolveFormat(flags, batch);
    if (format === 'json') {
      io.stdout.write(`${JSON.stringify(taskPatches.map(toJson), null, 2)}\n`);
      return BATCH_EXIT_CODES.done;
    }
    const changed = taskPatches.filter(({ patch }) => patch.length > 0);
    if (changed.length === 0) io.stderr.write('No finished task has changed a file.\n');
    if (format === 'patches') return await writePatches(changed, flags.patches ?? `${batch.id}-patches`, request);
    return await createBranches(changed, batch, { format, workRoot: getTaskWorktreesRoot(io.environment), store, io });
  } finally {
    await store.close();
  }
}

function resolveFormat({ patches, branches, prs, json }: BatchFlags, { collect }: BatchStatus): CollectFormat {
  const options: readonly (readonly [boolean, CollectFormat])[] = [
    [patches !== undefined, 'patches'],
    [branches === true, 'branch'],
    [prs === true, 'pr'],
    [json === true, 'json'],
  ];
  const chosen = options.filter(([isGiven]) => isGiven).map(([, format]) => format);
  if (chosen.length > 1) throw new UsageError('Choose one: --patches, --branches, --prs or --json.');
  return chosen[0] ?? collect.as;
}

/**
 * Loads the patches of finished tasks, and names those that are missing. The store is shared with other machines, so
 * task keys are validated again.
 */
async function loadPatches(
  store: FleetStore,
  { id }: BatchStatus,
  { stderr }: BatchCommandInput['io'],
): Promise<readonly TaskPatch[]> {
  const done = (await store.listTasks(id, ['done'])).filter(({ key }) => isSafeFolderName(key));
  const found: TaskPatch[] = [];
  for (const task of done) {
    const patch = await store.readFile(id, task.key, 'patch');
    found.push({ task, patch: patch ?? new Uint8Array() });
    if (patch === undefined && (task.result === undefined || task.result.stat.files > 0))
      stderr.write(`${sanitize(task.title, 'line')}: its patch or its result is damaged and was left out.\n`);
  }
  return found;
}

function toJson({ task, patch }: TaskPatch) {
  const { spec, ...fields } = task;
  // A patch of text in another encoding would not survive as UTF-8.
  const patchEncoding = isUtf8(patch) ? 'utf8' : 'base64';
  const encoded = Buffer.from(patch).toString(patchEncoding);
  return { ...fields, place: spec.place, prompt: spec.prompt, patch: encoded, patchEncoding };
}

async function writePatches(
  taskPatches: readonly TaskPatch[],
  name: string,
  { io }: BatchCommandInput,
): Promise<number> {
  const folder = resolve(io.cwd, name);
  await mkdir(folder, { recursive: true });
  for (const { task, patch } of taskPatches) {
    const file = join(folder, `${task.key}.patch`);
    await writeFile(file, patch);
    io.stdout.write(`${file}\n`);
  }
  return BATCH_EXIT_CODES.done;
}

type Publishing = {
  readonly format: 'branch' | 'pr';
  readonly workRoot: string;
  readonly store: FleetStore;
  readonly io: BatchCommandInput['io'];
};

async function createBranches(
  taskPatches: readonly TaskPatch[],
  batch: BatchStatus,
  publishing: Publishing,
): Promise<number> {
  const { io } = publishing;
  const git = createFleetGit(io.environment);
  const byRepository = Map.groupBy(taskPatches, ({ task }) => task.spec.place?.url ?? '');
  let failed = 0;
  for (const taskPatch of taskPatches) {
    const { task } = taskPatch;
    const isAlone = (byRepository.get(task.spec.place?.url ?? '') ?? []).length === 1;
    const branch = isAlone ? batch.collect.name : `${batch.collect.name}-${task.key}`;
    try {
      const result = await publish(taskPatch, branch, git, batch, publishing);
      io.stdout.write(`${sanitize(`${task.title}  ${result}`, 'line')}\n`);
    } catch (thrown) {
      failed += 1;
      io.stderr.write(`${task.title}: ${formatOneLine(getErrorMessage(thrown))}\n`);
    }
  }
  return failed === 0 ? BATCH_EXIT_CODES.done : BATCH_EXIT_CODES.failed;
}

async function publish(
  { task, patch }: TaskPatch,
  branch: string,
  git: FleetGit,
  batch: BatchStatus,
  { format, workRoot, store, io }: Publishing,
): Promise<string> {
  const { place: repository } = task.spec;
  const problem = repository === undefined ? 'the task has no repository' : validateTaskCheckout(repository);
  if (repository === undefined || problem !== undefined) throw new Error(problem);
  const gitFolder = await findGitFolder(repository, git, workRoot);
  const title = `${batch.name}: ${formatOneLine(task.title)}`;
  const known = (await store.listBranches({ url: repository.url })).find((candidate) => candidate.branch === branch);
  const isRemote = isRemoteRepositoryUrl(repository.url);
  const commit = await commitPatch(git, {
    gitFolder,
    commit: repository.commit,
    patch,
    message: `${title}\n\n${formatOneLine(task.spec.prompt)}\n`,
    branch,
    replaces: isRemote ? 'any' : known?.commit,
  });
  if (commit.kind === 'refused') throw new Error(`no branch was created: ${commit.problem}`);
  const note = { made: '', updated: ' (updated)', exists: ' (already exists)' }[commit.kind];
  const record = { url: repository.url, branch, commit: commit.commit, batch: batch.id, key: task.key };
  const remote = isRemote ? repository.url : format === 'pr' ? await findOrigin(repository.url, git) : undefined;
  if (remote === undefined) {
    await store.saveBranch(record);
    return `${branch}${note}`;
  }
  const pushed = await pushBranch(git, gitFolder, {
    url: remote,
    branch,
    commit: commit.commit,
    replaces: known?.commit,
  });
  if (pushed === 'foreign') {
    const problem = `the branch ${branch} on ${remote} has commits that ouro did not make, so it was left alone`;
    if (commit.kind === 'exists') return problem;
    throw new Error(problem);
  }
  await store.saveBranch(record);
  if (format === 'branch') return `${branch}${note}, pushed to ${remote}`;
  const { ref } = batch.collect;
  const base = ref !== undefined && (await hasRemoteBranch(git, remote, ref)) ? ref : undefined;
  const address = await openForge(remote, batch.collect.forge, io.environment.variables).publish({
    url: remote,
    branch,
    base,
    isUpdate: known !== undefined && pushed === 'pushed',
    title,
    body: createBody(task, batch),
    isDraft: batch.collect.draft === true,
    labels: batch.collect.labels ?? [],
    reviewers: batch.collect.reviewers ?? [],
  });
  const state = batch.collect.draft === true ? 'draft' : 'open';
  if (known?.request?.url !== address)
    await store.saveBranch({ ...record, request: { url: address, state, checks: 'none' } });
  return address;
}

function createBody({ title, spec, result }: BatchTaskView, { name, collect }: BatchStatus): string {
  const answer = result?.answer ?? '';
  return collect.body === undefined
    ? answer
    : renderPullRequestBody(collect.body, { batch: name, title, answer, prompt: spec.prompt });
}

/** Returns the git folder to create the branch in: of a local repository itself, of a remote one the local mirror. */
async function findGitFolder(repository: BatchTaskCheckout, git: FleetGit, workRoot: string): Promise<string> {
  if (isRemoteRepositoryUrl(repository.url)) return openRepositoryMirrors(workRoot, git).ensureCommit(repository);
  const result = await git({ args: ['rev-parse', '--path-format=absolute', '--git-common-dir'], cwd: repository.url });
  return requireGitOutput(result, `${repository.url} does not exist any more`).trim();
}

async function findOrigin(folder: string, git: FleetGit): Promise<string> {
  const result = await git({ args: ['config', '--get', 'remote.origin.url'], cwd: folder });
  const url = result.stdout.toString('utf8').trim();
  if (isRemoteRepositoryUrl(url)) return url;
  throw new Error(`${folder} has no remote "origin" to open a pull request at`);
}
