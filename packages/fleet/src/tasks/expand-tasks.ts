import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, redactSecrets } from '@ouro-cli/ouro/commands';
import { isSecretVariable } from '@ouro-cli/ouro/sandbox';
import type { FleetGit } from '../git/fleet-git.ts';
import { validateTaskCheckout } from '../git/validate-checkout-spec.ts';
import type {
  BatchTaskSpec,
  CollectOptions,
  DueBatchSchedule,
  NewBatch,
  NewBatchTask,
  TaskVerification,
} from '../store/batch.ts';
import {
  createCommitResolver,
  findTaskTargets,
  type TaskRepositoryTarget,
  type TaskTargetDeps,
} from './find-task-targets.ts';
import { type JsonlTaskLine, type TaskFile, TaskFileError } from './task-file.ts';

/** A batch with its tasks, ready to submit. */
export type ExpandedBatch = { readonly batch: NewBatch; readonly tasks: readonly NewBatchTask[] };

const MICROS = 1_000_000;

/** Expands a task file to one task per target and item, pinned to commits, always in the same way. */
export async function expandTaskFile(file: TaskFile, deps: TaskTargetDeps): Promise<ExpandedBatch> {
  const targets = await findTaskTargets(file, deps);
  warnOfHiddenSecrets(file, deps);
  const items = file.over.items === undefined ? [undefined] : await readItems(file.over.items, deps.folder);
  if (targets.length === 0)
    throw new TaskFileError('The task file has no targets. Name repositories, folders or files under "over".');
  const work = targets.flatMap((target) =>
    items.map((item) => {
      const spec = createSpec(file, target.checkout, renderPrompt(file, target, item));
      return createTask(spec, createTitle(target, item), file);
    }),
  );
  return createBatch(file, work);
}

export async function expandTaskLines(
  lines: readonly JsonlTaskLine[],
  options: Pick<TaskFile, 'collect' | 'limits' | 'priority'> & { readonly name: string },
  deps: TaskTargetDeps,
): Promise<ExpandedBatch> {
  const work: NewBatchTask[] = [];
  // Lines of the same repository share its lookup, which starts git.
  const lookups = new Map<string, Promise<readonly TaskRepositoryTarget[]>>();
  for (const { repo = '.', ref, ...line } of lines) {
    const lookup = JSON.stringify([repo, ref]);
    const targets = lookups.get(lookup) ?? findTaskTargets({ over: { repos: [repo] }, ref }, deps);
    lookups.set(lookup, targets);
    for (const target of await targets) {
      const place = line.folder === undefined ? target.checkout : { ...target.checkout, folder: line.folder };
      const file = { ...line, limits: { ...options.limits, minutes: line.minutes, turns: line.turns } };
      work.push(createTask(createSpec(file, place, line.prompt), line.title ?? target.name, file));
    }
  }
  return createBatch({ ...options, prompt: '' }, work);
}

/** Warns of variables that commands in the sandbox cannot read. ouro itself can, for example the key of a provider. */
function warnOfHiddenSecrets({ env, secrets }: Pick<TaskFile, 'env' | 'secrets'>, { warn }: TaskTargetDeps): void {
  const hidden = env.filter((name) => isSecretVariable(name, '') && !secrets.includes(name));
  if (hidden.length === 0) return;
  const advice = 'If they need it, name it under "secrets" instead of "env".';
  warn(`Commands of the tasks cannot read ${hidden.join(', ')} in the sandbox. ${advice}`);
}

type SpecSource = Omit<TaskFile, 'over' | 'collect' | 'name' | 'ref' | 'prompt' | 'priority'>;

function createSpec(file: SpecSource, place: TaskRepositoryTarget['checkout'], prompt: string): BatchTaskSpec {
  if (redactSecrets(prompt) !== prompt)
    throw new TaskFileError(
      'A prompt contains what looks like a key or password. Tasks are stored, so name a variable under "env" instead.',
    );
  const verify = convertVerify(file.verify);
  return {
    place,
    prompt,
    mode: file.mode,
    allowedTools: file.allowedTools,
    disallowedTools: file.disallowedTools,
    env: file.env,
    minutes: file.limits.minutes,
    ...(file.model === undefined ? {} : { model: file.model }),
    ...(verify === undefined ? {} : { verify }),
    ...(file.secrets.length === 0 ? {} : { secrets: file.secrets }),
    ...(file.schema === undefined ? {} : { schema: file.schema }),
    ...(file.limits.turns === undefined ? {} : { turns: file.limits.turns }),
  };
}

function convertVerify(verify: TaskFile['verify']): TaskVerification | undefined {
  if (verify === undefined) return undefined;
  const { run, ask = '', tries } = verify;
  return run === undefined ? { kind: 'question', ask, tries } : { kind: 'command', run, tries };
}

function createTask(
  spec: BatchTaskSpec,
  title: string,
  { account, priority = 0 }: { readonly account?: string | undefined; readonly priority?: number },
  kind: NewBatchTask['kind'] = 'work',
): NewBatchTask {
  return { key: createTaskKey(title, spec), title, spec, lane: getLane(spec.model, account), kind, priority };
}

/** Creates the key of a task. Limits do not belong to it: more time or money does not make another task. */
function createTaskKey(title: string, spec: BatchTaskSpec): string {
  const { minutes: _minutes, turns: _turns, env: _env, secrets: _secrets, ...work } = spec;
  return `${createSlug(title)}-${hashJsonValue(work).slice(0, 8)}`;
}

/** Returns the rate-limit lane: the provider, with the account if the task names one. */
function getLane(model: string | undefined, account: string | undefined): string {
  const slash = model?.indexOf('/') ?? -1;
  const provider = model === 'demo' ? 'demo' : slash > 0 ? (model ?? '').slice(0, slash) : 'anthropic';
  return account === undefined ? provider : `${provider}:${account}`;
}

type BatchOptions = Pick<TaskFile, 'name' | 'collect' | 'limits' | 'priority' | 'prompt'> &
  Partial<Pick<TaskFile, 'model' | 'account' | 'ref'>>;

function createBatch(options: BatchOptions, work: readonly NewBatchTask[]): ExpandedBatch {
  const unique = [...new Map(work.map((task) => [task.key, task])).values()];
  const { collect, limits, priority } = options;
  const name = options.name ?? createSlug(options.prompt.split(/\s+/).slice(0, 5).join(' '));
  const summary = collect.summary === undefined ? [] : [createSummaryTask(collect.summary, options)];
  const tasks = [...unique, ...summary];
  const id = `${createSlug(name)}-${hashJsonValue([name, tasks.map(({ key }) => key).sort()]).slice(0, 6)}`;
  const { as, name: branch, forge, draft, labels, reviewers, body } = collect;
  // Unknown names are an error now, not when the work is paid for.
  renderPullRequestBody(body ?? '', { batch: name, title: '', answer: '', prompt: '' });
  const collectOptions: CollectOptions = {
    as,
    ...(forge === undefined ? {} : { forge }),
    ...(draft === undefined ? {} : { draft }),
    ...(labels === undefined ? {} : { labels }),
    ...(reviewers === undefined ? {} : { reviewers }),
    ...(body === undefined ? {} : { body }),
    name: branch ?? `ouro/${createSlug(name)}`,
    ...(options.ref === undefined ? {} : { ref: options.ref }),
  };
  const each = Math.round(limits.each * MICROS);
  return {
    batch: {
      id,
      name,
      priority,
      collect: collectOptions,
      limits: {
        each,
        all: limits.all === undefined ? each * tasks.length : Math.round(limits.all * MICROS),
        attempts: limits.attempts,
        atOnce: limits.at_once,
      },
    },
    tasks,
  };
}

/** Creates the summary task, which reads the results of the other tasks and changes nothing. */
function createSummaryTask(prompt: string, { model, account, limits }: BatchOptions): NewBatchTask {
  const spec: BatchTaskSpec = {
    prompt,
    mode: 'dontAsk',
    allowedTools: [],
    disallowedTools: [],
    env: [],
    minutes: limits.minutes,
    ...(model === undefined ? {} : { model }),
  };
  return createTask(spec, 'summary', { account }, 'summary');
}

function renderPrompt(file: TaskFile, target: TaskRepositoryTarget, item: JsonValue | undefined): string {
  const { url, folder, commit } = target.checkout;
  const repo = { name: target.name, url, folder, commit };
  const fileValue = target.file === undefined ? {} : { file: target.file };
  const values: JsonObject = { repo, ...fileValue, ...(item === undefined ? {} : { item }) };
  const prompt = fillTemplate(file.prompt, values).trim();
  // A prompt without `{{file}}` gets the name of its file appended.
  const hasFile = /\{\{\s*file\s*\}\}/.test(file.prompt);
  return target.file === undefined || hasFile ? prompt : `${prompt}\n\nThe file: ${target.file}`;
}

function createTitle({ name }: TaskRepositoryTarget, item: JsonValue | undefined): string {
  if (item === undefined) return name;
  const label = isJsonObject(item) ? (item.id ?? item.title ?? item.name ?? item.number) : item;
  return `${name} ${typeof label === 'object' || label === undefined ? hashJsonValue(item).slice(0, 4) : String(label)}`;
}

/** Reads items (issues, table rows, …): a JSON array, or one JSON value or plain text per line. */
async function readItems(name: string, folder: string): Promise<readonly JsonValue[]> {
  const source = await readFile(resolve(folder, name), 'utf8').catch(() => {
    throw new TaskFileError(`The file with items, ${name}, was not found (searched from ${folder}).`);
  });
  const items = parseJson(source);
  if (Array.isArray(items)) return items;
  const lines = source.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => parseJson(line) ?? line.trim());
}

export const hashJsonValue = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** Converts a text to lower case letters, digits and dashes. */
export function createSlug(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40);
  return slug.replace(/-$/, '') || 'task';
}

export const renderPullRequestBody = (
  template: string,
  values: { readonly batch: string; readonly title: string; readonly answer: string; readonly prompt: string },
): string => fillTemplate(template, values);

/** Replaces placeholders such as `{{repo.name}}` in a prompt. Throws for unknown names. */
function fillTemplate(template: string, values: JsonValue): string {
  return template.replaceAll(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, path: string) => {
    const value = path
      .split('.')
      .reduce<JsonValue | undefined>(
        (parent, key) => (isJsonObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined),
        values,
      );
    if (value === undefined || value === null)
      throw new TaskFileError(
        `The prompt has {{${path}}}, which does not exist. Available: ${listNames(values, '').join(', ')}.`,
      );
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

function listNames(values: JsonValue | undefined, prefix: string): readonly string[] {
  if (!isJsonObject(values)) return prefix === '' ? [] : [prefix];
  return Object.entries(values).flatMap(([key, value]) => listNames(value, prefix === '' ? key : `${prefix}.${key}`));
}

/** The dependencies of renewing tasks. */
type ScheduledTasksDeps = {
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
    // A pinned commit is not a ref of a remote repository.
    const commit = ref === place.commit ? ref : await resolveCommit(place.url);
    // The template {{repo.commit}} has put the commit into the prompt.
    const prompt = task.spec.prompt.replaceAll(place.commit, commit);
    const spec = { ...task.spec, prompt, place: { ...place, commit } };
    renewed.push({ ...task, key: createTaskKey(task.title, spec), spec });
  }
  return renewed;
}
