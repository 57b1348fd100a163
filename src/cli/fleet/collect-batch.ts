import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BatchStatus, TaskPlace, TaskView } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { commitPatch } from '../../fleet/collect/commit-patch.ts';
import { openPullRequest, pushBranch } from '../../fleet/collect/publish.ts';
import { type FleetGit, fleetGit, gitOutput } from '../../fleet/git/fleet-git.ts';
import { openMirrors } from '../../fleet/git/mirrors.ts';
import { isAddress, isPlainName, placeProblem } from '../../fleet/git/place-rules.ts';
import { messageOf } from '../../lib/errors.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { UsageError } from '../args/usage-error.ts';
import { theBatch } from './look-at-batch.ts';
import { openFleet } from './open-fleet.ts';
import { type BatchFlags, type BatchWish, EXIT } from './run-batch.ts';

type Harvest = { readonly task: TaskView; readonly patch: Uint8Array };
type Way = 'patches' | 'branch' | 'pr' | 'json';

/** `ouro batch collect ID`: patches, branches or pull requests of what is done, one after the other. */
export async function collectBatch(wish: BatchWish): Promise<number> {
  const { words, flags, io } = wish;
  const { store, folder } = await openFleet(io, flags.queue);
  try {
    const batch = await theBatch(store, words[1]);
    const harvest = await harvestOf(store, batch);
    const way = wayOf(flags, batch);
    if (way === 'json') {
      io.stdout.write(`${JSON.stringify(harvest.map(asJson), null, 2)}\n`);
      return EXIT.done;
    }
    const changed = harvest.filter(({ patch }) => patch.length > 0);
    if (changed.length === 0) io.stderr.write('Nothing that is done has changed a file.\n');
    if (way === 'patches') return writePatches(changed, flags.patches ?? `${batch.id}-patches`, wish);
    return branchAll(changed, batch, { way, fleetFolder: folder, io });
  } finally {
    await store.close();
  }
}

function wayOf({ patches, branches, prs, json }: BatchFlags, { collect }: BatchStatus): Way {
  const said: readonly (readonly [boolean, Way])[] = [
    [patches !== undefined, 'patches'],
    [branches === true, 'branch'],
    [prs === true, 'pr'],
    [json === true, 'json'],
  ];
  const chosen = said.filter(([is]) => is).map(([, way]) => way);
  if (chosen.length > 1) throw new UsageError('Choose one: --patches, --branches, --prs or --json.');
  return chosen[0] ?? collect.as;
}

/** Only tasks that are done; what stands in a store may have been written by others, so names are looked at again. */
async function harvestOf(store: FleetStore, { id }: BatchStatus): Promise<readonly Harvest[]> {
  const done = (await store.tasks(id, ['done'])).filter(({ key }) => isPlainName(key));
  const found: Harvest[] = [];
  for (const task of done) found.push({ task, patch: (await store.file(id, task.key, 'patch')) ?? new Uint8Array() });
  return found;
}

function asJson({ task, patch }: Harvest) {
  const { spec, ...told } = task;
  return { ...told, place: spec.place, prompt: spec.prompt, patch: Buffer.from(patch).toString('utf8') };
}

async function writePatches(harvest: readonly Harvest[], name: string, { io }: BatchWish): Promise<number> {
  const folder = resolve(io.cwd, name);
  await mkdir(folder, { recursive: true });
  for (const { task, patch } of harvest) {
    const file = join(folder, `${task.key}.patch`);
    await writeFile(file, patch);
    io.stdout.write(`${file}\n`);
  }
  return EXIT.done;
}

type Publishing = {
  readonly way: 'branch' | 'pr';
  readonly fleetFolder: string;
  readonly io: BatchWish['io'];
};

async function branchAll(harvest: readonly Harvest[], batch: BatchStatus, publishing: Publishing): Promise<number> {
  const { io } = publishing;
  const git = fleetGit(io.environment);
  const perRepository = Map.groupBy(harvest, ({ task }) => task.spec.place?.url ?? '');
  let failed = 0;
  for (const one of harvest) {
    const isAlone = (perRepository.get(one.task.spec.place?.url ?? '') ?? []).length === 1;
    const branch = isAlone ? batch.collect.name : `${batch.collect.name}-${one.task.key}`;
    try {
      const told = await publish(one, branch, git, batch, publishing);
      io.stdout.write(`${sanitize(`${one.task.title}  ${told}`, 'line')}\n`);
    } catch (thrown) {
      failed += 1;
      io.stderr.write(`${one.task.title}: ${oneLine(messageOf(thrown))}\n`);
    }
  }
  return failed === 0 ? EXIT.done : EXIT.failed;
}

async function publish(
  { task, patch }: Harvest,
  branch: string,
  git: FleetGit,
  batch: BatchStatus,
  { way, fleetFolder, io }: Publishing,
): Promise<string> {
  const { place } = task.spec;
  const problem = place === undefined ? 'it has no repository' : placeProblem(place);
  if (place === undefined || problem !== undefined) throw new Error(problem);
  const gitFolder = await gitFolderOf(place, git, fleetFolder);
  const message = `${batch.name}: ${oneLine(task.title)}\n\n${oneLine(task.spec.prompt)}\n`;
  const made = await commitPatch(git, { gitFolder, commit: place.commit, patch, message, branch });
  if (made.kind === 'refused') throw new Error(`no branch was made: ${made.why}`);
  const told = made.kind === 'made' ? branch : `${branch} (was there already)`;
  const remote = isAddress(place.url) ? place.url : way === 'pr' ? await originOf(place.url, git) : undefined;
  if (remote === undefined) return told;
  await pushBranch(git, gitFolder, remote, branch);
  if (way === 'branch') return `${told}, pushed to ${remote}`;
  const body = task.result?.answer ?? '';
  const title = `${batch.name}: ${oneLine(task.title)}`;
  return openPullRequest({ url: remote, branch, title, body }, io.environment.variables);
}

/** A repository of this machine gets its branch itself; one elsewhere gets it from our mirror. */
async function gitFolderOf(place: TaskPlace, git: FleetGit, fleetFolder: string): Promise<string> {
  if (isAddress(place.url)) return openMirrors(fleetFolder, git).bring(place);
  const asked = await git({ args: ['rev-parse', '--path-format=absolute', '--git-common-dir'], cwd: place.url });
  return gitOutput(asked, `${place.url} is not there any more`).trim();
}

async function originOf(folder: string, git: FleetGit): Promise<string> {
  const asked = await git({ args: ['config', '--get', 'remote.origin.url'], cwd: folder });
  const url = asked.stdout.toString('utf8').trim();
  if (isAddress(url)) return url;
  throw new Error(`${folder} has no "origin" a pull request could be opened at`);
}
