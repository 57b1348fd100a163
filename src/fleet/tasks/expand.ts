import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CollectWish, NewBatch, NewTask, TaskSpec, Verify } from '../../contracts/fleet.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';
import { findTargets, type Target, type TargetParts } from './targets.ts';
import { type TaskFile, TaskFileProblem, type TaskLine } from './task-file.ts';
import { fillTemplate } from './template.ts';

/** A batch as it would be submitted. */
export type Expanded = { readonly batch: NewBatch; readonly tasks: readonly NewTask[] };

const MICROS = 1_000_000;

/** The product of everything a task file is over, pinned to commits. The same file gives the same batch again. */
export async function expandFile(file: TaskFile, parts: TargetParts): Promise<Expanded> {
  const targets = await findTargets(file, parts);
  const items = file.over.items === undefined ? [undefined] : await readItems(file.over.items, parts.folder);
  if (targets.length === 0)
    throw new TaskFileProblem('There is nothing to work on: name repositories, folders or files under "over".');
  const work = targets.flatMap((target) =>
    items.map((item) => taskOf(specOf(file, target.place, promptOf(file, target, item)), titleOf(target, item), file)),
  );
  return assemble(file, work);
}

/** One task a line, as programs write them. */
export async function expandLines(
  lines: readonly TaskLine[],
  frame: Pick<TaskFile, 'collect' | 'limits' | 'priority'> & { readonly name: string },
  parts: TargetParts,
): Promise<Expanded> {
  const work: NewTask[] = [];
  for (const line of lines) {
    const targets = await findTargets({ over: { repos: [line.repo ?? '.'] }, ref: line.ref }, parts);
    for (const target of targets) {
      const place = line.folder === undefined ? target.place : { ...target.place, folder: line.folder };
      const file = { ...line, limits: { ...frame.limits, minutes: line.minutes, turns: line.turns } };
      work.push(taskOf(specOf(file, place, line.prompt), line.title ?? target.name, file));
    }
  }
  return assemble({ ...frame, prompt: '' }, work);
}

type SpecSource = Omit<TaskFile, 'over' | 'collect' | 'name' | 'ref' | 'prompt' | 'priority'>;

function specOf(file: SpecSource, place: Target['place'], prompt: string): TaskSpec {
  if (withoutSecrets(prompt) !== prompt)
    throw new TaskFileProblem(
      'A prompt holds what looks like a key or a password. Tasks are stored: name a variable under "env" instead.',
    );
  const verify = verifyOf(file.verify);
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
    ...(file.schema === undefined ? {} : { schema: file.schema }),
    ...(file.limits.turns === undefined ? {} : { turns: file.limits.turns }),
  };
}

function verifyOf(verify: TaskFile['verify']): Verify | undefined {
  if (verify === undefined) return undefined;
  const { run, ask = '', tries } = verify;
  return run === undefined ? { kind: 'question', ask, tries } : { kind: 'command', run, tries };
}

function taskOf(
  spec: TaskSpec,
  title: string,
  { account, priority = 0 }: { readonly account?: string | undefined; readonly priority?: number },
  kind: NewTask['kind'] = 'work',
): NewTask {
  // Limits are left out: who allows more time or money means the same task.
  const { minutes: _minutes, turns: _turns, env: _env, ...asked } = spec;
  const key = `${slugOf(title)}-${hashOf(asked).slice(0, 8)}`;
  return { key, title, spec, lane: laneOf(spec.model, account), kind, priority };
}

/** A provider, and an account of it where one is named: what has one limit together. */
function laneOf(model: string | undefined, account: string | undefined): string {
  const slash = model?.indexOf('/') ?? -1;
  const provider = model === 'demo' ? 'demo' : slash > 0 ? (model ?? '').slice(0, slash) : 'anthropic';
  return account === undefined ? provider : `${provider}:${account}`;
}

type Frame = Pick<TaskFile, 'name' | 'collect' | 'limits' | 'priority' | 'prompt'> &
  Partial<Pick<TaskFile, 'model' | 'account'>>;

function assemble(frame: Frame, work: readonly NewTask[]): Expanded {
  const unique = [...new Map(work.map((task) => [task.key, task])).values()];
  const { collect, limits, priority } = frame;
  const name = frame.name ?? slugOf(frame.prompt.split(/\s+/).slice(0, 5).join(' '));
  const summary = collect.summary === undefined ? [] : [summaryTask(collect.summary, frame)];
  const tasks = [...unique, ...summary];
  const id = `${slugOf(name)}-${hashOf([name, tasks.map(({ key }) => key).sort()]).slice(0, 6)}`;
  const wish: CollectWish = { as: collect.as, name: collect.name ?? `ouro/${slugOf(name)}` };
  const each = Math.round(limits.each * MICROS);
  return {
    batch: {
      id,
      name,
      priority,
      collect: wish,
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

/** It reads what the others came to and changes nothing. */
function summaryTask(prompt: string, { model, account, limits }: Frame): NewTask {
  const spec: TaskSpec = {
    prompt,
    mode: 'dontAsk',
    allowedTools: [],
    disallowedTools: [],
    env: [],
    minutes: limits.minutes,
    ...(model === undefined ? {} : { model }),
  };
  return taskOf(spec, 'summary', { account }, 'summary');
}

function promptOf(file: TaskFile, target: Target, item: JsonValue | undefined): string {
  const { url, folder, commit } = target.place;
  const repo = { name: target.name, url, folder, commit };
  const about = target.file === undefined ? {} : { file: target.file };
  const values: JsonObject = { repo, ...about, ...(item === undefined ? {} : { item }) };
  const prompt = fillTemplate(file.prompt, values).trim();
  // A prompt that does not say which file it means is about the one it was given.
  const isNamed = /\{\{\s*file\s*\}\}/.test(file.prompt);
  return target.file === undefined || isNamed ? prompt : `${prompt}\n\nThe file: ${target.file}`;
}

function titleOf({ name }: Target, item: JsonValue | undefined): string {
  if (item === undefined) return name;
  const named = isJsonObject(item) ? (item.id ?? item.title ?? item.name ?? item.number) : item;
  return `${name} ${typeof named === 'object' || named === undefined ? hashOf(item).slice(0, 4) : String(named)}`;
}

/** Issues, rows of a table, anything: a JSON list, or one JSON value a line; lines that are no JSON are texts. */
async function readItems(name: string, folder: string): Promise<readonly JsonValue[]> {
  const source = await readFile(resolve(folder, name), 'utf8').catch(() => {
    throw new TaskFileProblem(`There is no file ${name} with items (looked from ${folder}).`);
  });
  const whole = parsed(source);
  if (Array.isArray(whole)) return whole;
  const lines = source.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => parsed(line) ?? line.trim());
}

function parsed(source: string): JsonValue | undefined {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  return slug.replace(/-$/, '') || 'task';
}
