import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import {
  createGitEnv,
  execGit,
  parseFlagValues,
  SUBCOMMANDS,
  type SubcommandInput,
  UsageError,
  writeSampleProject,
} from '@ouro-cli/ouro/commands';
import { BATCH_EXIT_CODES, type BatchCommandInput } from './batch-run-command.ts';
import { runWithQueueErrorReport } from './open-task-queue.ts';

type Action = (request: BatchCommandInput) => Promise<number>;

/** Loads the implementation of each action on demand. */
const ACTION_LOADERS: Readonly<Record<string, () => Promise<Action>>> = {
  run: async () => (await import('./batch-run-command.ts')).runBatchRunCommand,
  collect: async () => (await import('./batch-collect-command.ts')).runBatchCollectCommand,
  init: async () => runBatchInitCommand,
  list: async () => (await import('./batch-show-commands.ts')).runBatchListCommand,
  status: async () => (await import('./batch-show-commands.ts')).runBatchStatusCommand,
  show: async () => (await import('./batch-show-commands.ts')).runBatchShowCommand,
  logs: async () => (await import('./batch-show-commands.ts')).runBatchLogsCommand,
  pause: async () => (await import('./batch-control-command.ts')).runBatchControlCommand,
  resume: async () => (await import('./batch-control-command.ts')).runBatchControlCommand,
  cancel: async () => (await import('./batch-control-command.ts')).runBatchControlCommand,
  retry: async () => (await import('./batch-control-command.ts')).runBatchControlCommand,
  delete: async () => (await import('./batch-delete-command.ts')).runBatchDeleteCommand,
  budget: async () => (await import('./batch-control-command.ts')).runBatchControlCommand,
};

/** Runs `ouro batch …`: lists the batches without arguments, and runs arguments that name no action as a prompt. */
export async function runBatchCommand({ args, flags: rawFlags, io, shutdown }: SubcommandInput): Promise<number> {
  const flags = parseFlagValues(SUBCOMMANDS.batch.flags, rawFlags);
  const [name = flags.over.length === 0 ? 'list' : 'run'] = args;
  const action = await (Object.hasOwn(ACTION_LOADERS, name) ? ACTION_LOADERS[name] : ACTION_LOADERS.run)?.();
  return runWithQueueErrorReport(io, async () => action?.({ args, flags, io, shutdown }) ?? 2);
}

const SAMPLE_REPOSITORIES = ['shop-one', 'shop-two', 'shop-three'];

/** A complete task file for the demo model; the fields users change first come first. */
const SAMPLE_TASK_FILE = `# ouro batch run fleet.yaml
name: discounts
prompt: |
  The discounts of {{repo.name}} are wrong. Find out why, and correct it.
over:
  repos: [shop-*]
model: demo            # a scripted model that costs nothing; say sonnet for a real one
mode: acceptEdits
allowedTools: ["Bash(node --test)"]
verify: { run: node --test, tries: 2 }
limits: { each: 0.50, all: 2, minutes: 10, at_once: 3 }
`;

/** Runs `ouro batch init <dir>`: creates three small repositories and a task file, for a first batch without a key. */
export async function runBatchInitCommand({ args: [, name, ...extraArgs], io }: BatchCommandInput): Promise<number> {
  if (name === undefined || extraArgs.length > 0) throw new UsageError('Usage: ouro batch init <new folder>');
  const folder = resolve(io.cwd, name);
  if (existsSync(folder)) throw new UsageError(`${name} already exists. Name a new folder.`);
  await createSampleRepositories(folder, SAMPLE_REPOSITORIES, io.environment);
  await writeFile(join(folder, 'fleet.yaml'), SAMPLE_TASK_FILE, { flag: 'wx' });
  const file = relative(io.cwd, join(folder, 'fleet.yaml'));
  io.stdout.write(
    `${SAMPLE_REPOSITORIES.map((shop) => join(name, shop)).join('\n')}\n${file}\nNext: ouro batch run ${file} --dry-run\n`,
  );
  return BATCH_EXIT_CODES.done;
}

const GIT_TIMEOUT_MS = 30_000;
const AUTHOR = {
  GIT_AUTHOR_NAME: 'ouro',
  GIT_AUTHOR_EMAIL: 'ouro@localhost',
  GIT_COMMITTER_NAME: 'ouro',
  GIT_COMMITTER_EMAIL: 'ouro@localhost',
};

/** Creates sample repositories with one commit each, whose tests fail until one line is fixed. */
async function createSampleRepositories(
  folder: string,
  names: readonly string[],
  { home, variables }: { readonly home: string; readonly variables: Readonly<Record<string, string>> },
): Promise<void> {
  const env = createGitEnv({ PATH: variables.PATH ?? '/usr/bin:/bin', HOME: home }, AUTHOR);
  for (const name of names) {
    const cwd = join(folder, name);
    await mkdir(cwd, { recursive: true });
    await writeSampleProject(cwd);
    const git = (...args: readonly string[]) => execGit(args, cwd, env, GIT_TIMEOUT_MS);
    await git('init', '--quiet', '--initial-branch=main');
    await git('add', '--all');
    await git('commit', '--quiet', '--no-gpg-sign', '--message=A shop whose discounts are wrong');
  }
}
