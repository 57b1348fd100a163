import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { PullRequest } from '../../src/git/http-forges.ts';
import { openForge } from '../../src/git/open-forge.ts';

type Call = { readonly method: string; readonly path: string; readonly body?: unknown };
type Answer = (call: Call) => unknown;

let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

/** A web server that answers calls to its API, refuses those without the token, and keeps what it was asked. */
async function serve(token: string, answer: Answer): Promise<{ readonly origin: string; readonly calls: Call[] }> {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const { method = '', url: path = '' } = request;
    const call = { method, path, ...(text === '' ? {} : { body: JSON.parse(text) }) };
    const isKnown = Object.values(request.headers).some((value) => String(value).includes(token));
    calls.push(call);
    const found = isKnown ? answer(call) : undefined;
    response.writeHead(found === undefined ? 403 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { message: 'forbidden' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = async () => {
    server.close();
    await once(server, 'close');
  };
  const address = server.address();
  return { origin: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, calls };
}

const request = (url: string, more: Partial<PullRequest> = {}): PullRequest => ({
  url,
  ...{ branch: 'ouro/x', base: undefined, isUpdate: false, title: 'Title', body: 'Body' },
  ...{ isDraft: true, labels: ['bot'], reviewers: ['ada'] },
  ...more,
});

test('GitLab opens a merge request, finds and edits the open one, and reports its state', async () => {
  let open: object[] = [];
  const merge = { iid: 7, web_url: 'https://gitlab.test/g/app/-/merge_requests/7', state: 'opened', draft: true };
  const { origin, calls } = await serve('glpat-1', ({ method, path }) => {
    if (path.startsWith('/api/v4/users')) return [{ id: 42 }];
    if (path.endsWith('/projects/g%2Fsub%2Fapp')) return { default_branch: 'trunk' };
    if (path.endsWith('/merge_requests/7') && method === 'GET')
      return { ...merge, state: 'merged', head_pipeline: { status: 'failed' } };
    if (method === 'GET') return open;
    open = [merge];
    return merge;
  });
  const url = `${origin}/g/sub/app.git`;
  const forge = openForge(url, 'gitlab', { GITLAB_TOKEN: 'glpat-1', GITLAB_HOST: '127.0.0.1' });
  expect(await forge.publish(request(url))).toBe(merge.web_url);
  expect(calls.at(-1)).toEqual({
    method: 'POST',
    path: '/api/v4/projects/g%2Fsub%2Fapp/merge_requests',
    body: {
      ...{ source_branch: 'ouro/x', target_branch: 'trunk', title: 'Draft: Title', description: 'Body' },
      ...{ labels: 'bot', reviewer_ids: [42] },
    },
  });
  expect(await forge.publish(request(url))).toBe(merge.web_url);
  expect(calls.at(-1)?.method).toBe('GET');
  await forge.publish(request(url, { isUpdate: true, base: 'release', isDraft: false }));
  expect(calls.at(-1)).toMatchObject({ method: 'PUT', body: { title: 'Title', target_branch: 'release' } });
  expect(await forge.look(url, merge.web_url)).toEqual({ url: merge.web_url, state: 'merged', checks: 'failed' });
  await expect(
    openForge(url, 'gitlab', { GITLAB_TOKEN: 'wrong', GITLAB_HOST: '127.0.0.1' }).publish(request(url)),
  ).rejects.toThrow(/^GitLab answered 403 to GET/);
  await expect(openForge(url, 'gitlab', { GITLAB_HOST: '127.0.0.1' }).publish(request(url))).rejects.toThrow(
    'GITLAB_TOKEN is not set',
  );
});

test('Gitea opens a pull request, finds and edits the open one on any page, and reports its state', async () => {
  const address = 'https://gitea.test/o/app/pulls/3';
  const pull = { number: 3, html_url: address, state: 'open', draft: true, head: { ref: 'ouro/x', sha: 'abc' } };
  const others = Array.from({ length: 50 }, (_, at) => ({
    ...pull,
    number: 100 + at,
    head: { ref: `b${at}`, sha: 'x' },
  }));
  let open: object[] = [];
  const { origin, calls } = await serve('gitea-1', ({ method, path }) => {
    if (path.includes('/labels')) return [{ id: 5, name: 'bot' }];
    if (path.endsWith('/repos/o/app')) return { default_branch: 'main' };
    if (path.endsWith('/commits/abc/status')) return { state: 'success' };
    if (path.endsWith('/requested_reviewers')) return [];
    if (path.endsWith('/pulls/3') && method === 'GET') return pull;
    if (method === 'GET') return open.slice(path.endsWith('page=1') ? 0 : 50, path.endsWith('page=1') ? 50 : 100);
    open = [...others, pull];
    return pull;
  });
  const url = `${origin}/o/app.git`;
  const forge = openForge(url, 'gitea', { GITEA_TOKEN: 'gitea-1', GITEA_HOST: '127.0.0.1' });
  expect(await forge.publish(request(url))).toBe(address);
  expect(calls.slice(-2)).toEqual([
    {
      method: 'POST',
      path: '/api/v1/repos/o/app/pulls',
      body: { head: 'ouro/x', base: 'main', title: 'WIP: Title', body: 'Body', labels: [5] },
    },
    { method: 'POST', path: '/api/v1/repos/o/app/pulls/3/requested_reviewers', body: { reviewers: ['ada'] } },
  ]);
  await forge.publish(request(url, { isUpdate: true, body: 'New' }));
  expect(calls.at(-1)).toMatchObject({ method: 'PATCH', path: '/api/v1/repos/o/app/pulls/3', body: { body: 'New' } });
  expect(await forge.look(url, address)).toEqual({ url: address, state: 'draft', checks: 'passed' });
  open = [];
  await expect(forge.publish(request(url, { labels: ['missing'] }))).rejects.toThrow('has no label missing');
});
