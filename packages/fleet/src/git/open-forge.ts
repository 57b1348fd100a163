import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProgramResult, runProgram } from '@ouro-cli/ouro/commands';
import { z } from 'zod';
import type { PullRequestView } from '../store/batch.ts';
import { createGiteaForge, createGitLabForge, type Forge, type PullRequest } from './http-forges.ts';

/** The kinds of services. */
export const FORGE_KINDS = ['github', 'gitlab', 'gitea'] as const;
type ForgeKind = (typeof FORGE_KINDS)[number];

/** Opens the service of a repository: the one the task file names, else the one its host name suggests, else GitHub. */
export function openForge(
  url: string,
  kind: ForgeKind | undefined,
  variables: Readonly<Record<string, string>>,
): Forge {
  switch (kind ?? guessForge(url)) {
    case 'gitlab':
      requireKnownHost(url, ['gitlab.com', variables.GITLAB_HOST], 'GITLAB_HOST');
      return createGitLabForge(variables.GITLAB_TOKEN);
    case 'gitea':
      requireKnownHost(url, ['gitea.com', 'codeberg.org', variables.GITEA_HOST], 'GITEA_HOST');
      return createGiteaForge(variables.GITEA_TOKEN);
    default:
      return createGitHubForge(variables);
  }
}

/** The queue names the repository, so the token of a person must not go to whatever host it names. */
function requireKnownHost(url: string, known: readonly (string | undefined)[], variable: string): void {
  const host = findHost(url);
  if (known.includes(host)) return;
  throw new Error(`Your token is not sent to ${host}. If you trust this host, set ${variable}=${host}.`);
}

const findHost = (url: string): string => /^(?:\w+:\/\/)?(?:[^@/]*@)?([^:/]+)/.exec(url)?.[1] ?? '';

function guessForge(url: string): ForgeKind {
  const host = findHost(url);
  if (host.includes('gitlab')) return 'gitlab';
  return /gitea|forgejo|codeberg/.test(host) ? 'gitea' : 'github';
}

const GH_TIMEOUT_MS = 60_000;

/** Creates the access to GitHub, through its own program, which knows the user's login. */
function createGitHubForge(env: Readonly<Record<string, string>>): Forge {
  const runGh = (args: readonly string[]) => runProgram('gh', args, { env, timeoutMs: GH_TIMEOUT_MS });
  return {
    publish: (request) => publishWithGh(request, runGh),
    async look(_url, address) {
      const end = await runGh(['pr', 'view', address, '--json', 'state,isDraft,statusCheckRollup']);
      if (end.code !== 0) throw createGhError(end);
      return convertView(address, end.stdout.toString('utf8'));
    },
  };
}

async function publishWithGh(
  { url, branch, base, isUpdate, title, body, isDraft, labels, reviewers }: PullRequest,
  runGh: (args: readonly string[]) => Promise<ProgramResult>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ouro-pr-'));
  try {
    const file = join(folder, 'body.md');
    await writeFile(file, body, { mode: 0o600 });
    const text = ['--title', title, '--body-file', file];
    const into = base === undefined ? [] : ['--base', base];
    const created = await runGh([
      ...['pr', 'create', '--repo', url, '--head', branch, ...into],
      ...(isDraft ? ['--draft'] : []),
      ...labels.flatMap((label) => ['--label', label]),
      ...reviewers.flatMap((reviewer) => ['--reviewer', reviewer]),
      ...text,
    ]);
    if (created.code === 0) return created.stdout.toString('utf8').trim();
    const message = created.stderr.toString('utf8');
    const existing = /https:\/\/(?:(?!https:\/\/)\S)+\/pull\/\d+/.exec(message)?.[0];
    if (!/already exists/i.test(message) || existing === undefined) throw createGhError(created);
    if (!isUpdate) return existing;
    const edited = await runGh(['pr', 'edit', existing, ...into, ...text]);
    if (edited.code !== 0) throw createGhError(edited);
    return existing;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function createGhError({ problem, stderr }: ProgramResult): Error {
  return new Error(
    problem === undefined
      ? `gh failed: ${stderr.toString('utf8').trim().split('\n')[0]}`
      : 'The GitHub CLI (gh) was not found. Install it and log in: gh auth login',
  );
}

const view = z.object({
  state: z.enum(['OPEN', 'MERGED', 'CLOSED']),
  isDraft: z.boolean(),
  /** Check runs have a conclusion once they are completed, status contexts a state. */
  statusCheckRollup: z.array(z.object({ conclusion: z.string().nullish(), state: z.string().nullish() })).nullish(),
});

const PASSED = ['SUCCESS', 'NEUTRAL', 'SKIPPED'];
const RUNNING = ['', 'PENDING', 'EXPECTED'];

function convertView(url: string, json: string): PullRequestView {
  const { state, isDraft, statusCheckRollup } = view.parse(JSON.parse(json));
  const checks = (statusCheckRollup ?? []).map((check) => check.conclusion || check.state || '');
  return {
    url,
    state: state === 'MERGED' ? 'merged' : state === 'CLOSED' ? 'closed' : isDraft ? 'draft' : 'open',
    checks:
      checks.length === 0
        ? 'none'
        : checks.some((check) => ![...PASSED, ...RUNNING].includes(check))
          ? 'failed'
          : checks.some((check) => RUNNING.includes(check))
            ? 'running'
            : 'passed',
  };
}
