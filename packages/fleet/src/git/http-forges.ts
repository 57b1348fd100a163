import { fetch } from '@ouro-cli/ouro/commands';
import { z } from 'zod';
import type { PullRequestView } from '../store/batch.ts';

const TIMEOUT_MS = 30_000;

/** A repository on a web server. */
type Repository = { readonly origin: string; readonly path: string };

/** Parses the address of a repository; one for ssh leads to the web server of its host. */
function parseRepository(url: string): Repository {
  const web = /^(https?:\/\/)(?:[^@/]*@)?([^/]+)\/(.+)$/.exec(url);
  const ssh = /^(?:ssh:\/\/)?(?:[^@/]*@)?([^:/]+)(?::\d+\/|[:/])(.+)$/.exec(url);
  const [origin, path] =
    web === null ? [`https://${ssh?.[1] ?? ''}`, ssh?.[2] ?? ''] : [`${web[1]}${web[2]}`, web[3] ?? ''];
  return { origin, path: path.replace(/(?:\.git)?(?<!\/)\/*$/, '') };
}

type Api = <Schema extends z.ZodType>(
  method: string,
  path: string,
  schema: Schema,
  body?: object,
) => Promise<z.infer<Schema>>;

/** Creates the calls to an API. Errors name the service and what it answered, never the token. */
function createApi(name: string, root: string, headers: Readonly<Record<string, string>>): Api {
  return async (method, path, schema, body) => {
    const response = await fetch(`${root}${path}`, {
      method,
      headers: {
        ...headers,
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect could lead to another host, and `fetch` would send it the token.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${name} answered ${response.status} to ${method} ${path}: ${text.slice(0, 200)}`);
    return schema.parse(text === '' ? {} : JSON.parse(text));
  };
}

function requireToken(token: string | undefined, variable: string): string {
  if (token !== undefined && token !== '') return token;
  throw new Error(`${variable} is not set. It needs a token that may open pull requests.`);
}

const getNumber = (address: string): string => /\/(\d+)\/?$/.exec(address)?.[1] ?? '';

const project = z.object({ default_branch: z.string() });
const mergeRequest = z.object({
  iid: z.number(),
  web_url: z.string(),
  state: z.string(),
  draft: z.boolean().optional(),
  head_pipeline: z.object({ status: z.string() }).nullish(),
});
const GITLAB_CHECKS: Readonly<Record<string, PullRequestView['checks']>> = {
  success: 'passed',
  skipped: 'passed',
  failed: 'failed',
  canceled: 'failed',
};

/** Creates the access to GitLab, with its API. */
export function createGitLabForge(token: string | undefined): Forge {
  const open = (url: string) => {
    const { origin, path } = parseRepository(url);
    const headers = { 'PRIVATE-TOKEN': requireToken(token, 'GITLAB_TOKEN') };
    return { api: createApi('GitLab', `${origin}/api/v4`, headers), root: `/projects/${encodeURIComponent(path)}` };
  };
  return {
    async publish({ url, branch, base, isUpdate, title, body, isDraft, labels, reviewers }) {
      const { api, root } = open(url);
      const query = `state=opened&source_branch=${encodeURIComponent(branch)}`;
      const [existing] = await api('GET', `${root}/merge_requests?${query}`, z.array(mergeRequest));
      const text = { title: isDraft ? `Draft: ${title}` : title, description: body };
      if (existing !== undefined) {
        const target = base === undefined ? {} : { target_branch: base };
        if (isUpdate) await api('PUT', `${root}/merge_requests/${existing.iid}`, mergeRequest, { ...text, ...target });
        return existing.web_url;
      }
      const reviewerIds: number[] = [];
      for (const name of reviewers) {
        const users = await api(
          'GET',
          `/users?username=${encodeURIComponent(name)}`,
          z.array(z.object({ id: z.number() })),
        );
        if (users[0] === undefined) throw new Error(`GitLab has no user ${name}.`);
        reviewerIds.push(users[0].id);
      }
      const created = await api('POST', `${root}/merge_requests`, mergeRequest, {
        source_branch: branch,
        target_branch: base ?? (await api('GET', root, project)).default_branch,
        ...text,
        ...(labels.length === 0 ? {} : { labels: labels.join(',') }),
        ...(reviewerIds.length === 0 ? {} : { reviewer_ids: reviewerIds }),
      });
      return created.web_url;
    },
    async look(url, address) {
      const { api, root } = open(url);
      const { state, draft, head_pipeline } = await api(
        'GET',
        `${root}/merge_requests/${getNumber(address)}`,
        mergeRequest,
      );
      const pipeline = head_pipeline?.status;
      return {
        url: address,
        state: state === 'merged' ? 'merged' : state === 'closed' ? 'closed' : draft === true ? 'draft' : 'open',
        checks: pipeline === undefined ? 'none' : (GITLAB_CHECKS[pipeline] ?? 'running'),
      };
    },
  };
}

const pull = z.object({
  number: z.number(),
  html_url: z.string(),
  state: z.string(),
  merged: z.boolean().nullish(),
  draft: z.boolean().nullish(),
  head: z.object({ ref: z.string(), sha: z.string() }),
});
const label = z.object({ id: z.number(), name: z.string() });
const GITEA_CHECKS: Readonly<Record<string, PullRequestView['checks']>> = {
  success: 'passed',
  warning: 'passed',
  failure: 'failed',
  error: 'failed',
  pending: 'running',
};

/** Creates the access to Gitea and Forgejo, with their API. */
export function createGiteaForge(token: string | undefined): Forge {
  const open = (url: string) => {
    const { origin, path } = parseRepository(url);
    const headers = { Authorization: `token ${requireToken(token, 'GITEA_TOKEN')}` };
    return { api: createApi('Gitea', `${origin}/api/v1`, headers), root: `/repos/${path}` };
  };
  return {
    async publish({ url, branch, base, isUpdate, title, body, isDraft, labels, reviewers }) {
      const { api, root } = open(url);
      const text = { title: isDraft ? `WIP: ${title}` : title, body };
      const existing = await findOpenPull(api, root, branch);
      if (existing !== undefined) {
        const target = base === undefined ? {} : { base };
        if (isUpdate) await api('PATCH', `${root}/pulls/${existing.number}`, pull, { ...text, ...target });
        return existing.html_url;
      }
      const known = labels.length === 0 ? [] : await api('GET', `${root}/labels?limit=50`, z.array(label));
      const missing = labels.find((name) => !known.some((candidate) => candidate.name === name));
      if (missing !== undefined) throw new Error(`${url} has no label ${missing}.`);
      const created = await api('POST', `${root}/pulls`, pull, {
        head: branch,
        base: base ?? (await api('GET', root, project)).default_branch,
        ...text,
        labels: known.filter(({ name }) => labels.includes(name)).map(({ id }) => id),
      });
      if (reviewers.length > 0)
        await api('POST', `${root}/pulls/${created.number}/requested_reviewers`, z.unknown(), { reviewers });
      return created.html_url;
    },
    async look(url, address) {
      const { api, root } = open(url);
      const { merged, state, draft, head } = await api('GET', `${root}/pulls/${getNumber(address)}`, pull);
      const status = await api('GET', `${root}/commits/${head.sha}/status`, z.object({ state: z.string().nullish() }));
      return {
        url: address,
        state: merged === true ? 'merged' : state === 'closed' ? 'closed' : draft === true ? 'draft' : 'open',
        checks: GITEA_CHECKS[status.state ?? ''] ?? 'none',
      };
    },
  };
}

const PAGE_SIZE = 50;

async function findOpenPull(api: Api, root: string, branch: string): Promise<z.infer<typeof pull> | undefined> {
  for (let page = 1; ; page += 1) {
    const pulls = await api('GET', `${root}/pulls?state=open&limit=${PAGE_SIZE}&page=${page}`, z.array(pull));
    const found = pulls.find(({ head }) => head.ref === branch);
    if (found !== undefined || pulls.length < PAGE_SIZE) return found;
  }
}

/** A pull request to open or to update. */
export type PullRequest = {
  /** Address of the repository. */
  readonly url: string;
  readonly branch: string;
  /** Branch to merge into; by default that of the repository. */
  readonly base: string | undefined;
  /** Set if the branch was updated, so that a pull request that is open already gets the new text. */
  readonly isUpdate: boolean;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  readonly labels: readonly string[];
  readonly reviewers: readonly string[];
};

/** A service that hosts repositories and their pull requests. */
export type Forge = {
  /** Opens a pull request, or finds the open one of the branch and edits it after an update. Returns its address. */
  publish(request: PullRequest): Promise<string>;
  /** Returns the present state of a pull request of a repository. */
  look(url: string, address: string): Promise<PullRequestView>;
};
