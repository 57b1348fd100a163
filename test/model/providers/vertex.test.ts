import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { CloudSettings } from '../../../src/model/providers/cloud-settings.ts';
import { createModelRegistry } from '../../../src/model/registry/model-registry.ts';
import { VERTEX_DIALECT } from '../../support/api/cloud-dialects.ts';
import { says, status } from '../../support/api/reply.ts';
import { type Script, startServer } from '../../support/api/server.ts';
import { DEAD_PROXY } from '../../support/environment.ts';
import { startJsonServer } from '../../support/json-server.ts';
import { createTempProject } from '../../support/temp-project.ts';
import { drain, REQUEST } from '../support.ts';

const HELLO: Script = { turns: [], after: says('Hello.'), apiKey: 'right' };
const PROJECT = { ANTHROPIC_VERTEX_PROJECT_ID: 'our-project', CLOUD_ML_REGION: 'europe-west1' };

async function ask(
  settings: Partial<CloudSettings>,
  { script = HELLO, model = 'vertex/claude-sonnet-4-5@20250929' } = {},
) {
  await using server = await startServer(script, VERTEX_DIALECT);
  const PATH = process.env.PATH ?? '';
  const variables = { PATH, ANTHROPIC_VERTEX_BASE_URL: `${server.url}/v1`, ...PROJECT, ...settings.variables };
  const choice = createModelRegistry({
    model,
    retry: { limits: () => ({ maxRetries: 0 }) },
    clouds: { keys: {}, ...settings, variables },
  });
  if (!choice.ok) throw new Error(choice.problem);
  const request = { ...REQUEST, model: choice.model };
  const { outcome } = await drain(choice.port, { request });
  const tokens = await choice.port.countTokens?.(request, new AbortController().signal);
  return { outcome, tokens, seen: server.requests(), choice };
}

/** The address of a token server that only a proxy leads to: Google's library takes no other way to exchange a token. */
const TOKEN_URL = 'http://sts.test/token';

/**
 * Exchanges one token for another, as Google's security token service does: the n-th exchange gives the n-th token. It is
 * reached as a proxy.
 */
async function startTokenServer(...tokens: readonly string[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(new URLSearchParams(body).get('subject_token') ?? '');
      const access_token = tokens[Math.min(asked.length, tokens.length) - 1];
      const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token';
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ access_token, issued_token_type, token_type: 'Bearer', expires_in: 3600 }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.env.http_proxy = process.env.HTTP_PROXY = `http://127.0.0.1:${port}`;
  return {
    asked,
    async [Symbol.asyncDispose]() {
      Object.assign(process.env, DEAD_PROXY);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A file of default credentials: a token of one's own identity is exchanged for one of Google's. */
async function credentialsFile(dir: string, subject: string, source?: object): Promise<string> {
  await writeFile(join(dir, 'subject'), subject);
  const file = join(dir, 'adc.json');
  const credentials = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: TOKEN_URL,
    credential_source: source ?? { file: join(dir, 'subject') },
  };
  await writeFile(file, JSON.stringify(credentials));
  return file;
}

test('a given token is sent, model and project are in the path, and tokens are counted', async () => {
  const { outcome, seen, tokens } = await ask({ variables: { CLOUDSDK_AUTH_ACCESS_TOKEN: 'right' } });
  expect(outcome).toMatchObject({ ok: true, message: { blocks: [{ text: 'Hello.' }] } });
  expect(seen.map(({ path }) => path)).toEqual([
    '/v1/projects/our-project/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
  ]);
  expect(seen[0]?.headers['x-api-key']).toBeUndefined();
  expect(tokens).toBeGreaterThan(0);
});

test('Google default credentials are exchanged for a token, once for many requests', async () => {
  await using project = await createTempProject();
  await using tokens = await startTokenServer('right');
  const file = await credentialsFile(project.dir, 'who we are');
  const { outcome } = await ask({ variables: { GOOGLE_APPLICATION_CREDENTIALS: file } });
  expect(outcome.ok).toBe(true);
  expect(tokens.asked).toEqual(['who we are']);
});

test('the own identity may come from a server on this machine, which is asked past the proxy', async () => {
  await using project = await createTempProject();
  await using tokens = await startTokenServer('right');
  await using identity = await startJsonServer({ '/identity': { value: 'who we are' } });
  const format = { type: 'json', subject_token_field_name: 'value' };
  const file = await credentialsFile(project.dir, '', { url: `${identity.url}/identity`, format });
  const { outcome } = await ask({ variables: { GOOGLE_APPLICATION_CREDENTIALS: file } });
  expect([outcome.ok, tokens.asked, identity.asked.length]).toEqual([true, ['who we are'], 1]);
});

test('a refused token is requested again after gcpAuthRefresh has signed in', async () => {
  await using project = await createTempProject();
  await using tokens = await startTokenServer('too old', 'right');
  const file = await credentialsFile(project.dir, 'before');
  const gcpAuthRefresh = `printf after > '${project.dir}/subject'`;
  const { outcome, seen } = await ask({ variables: { GOOGLE_APPLICATION_CREDENTIALS: file }, gcpAuthRefresh });
  expect(outcome.ok).toBe(true);
  expect(tokens.asked).toEqual(['before', 'after']);
  expect(seen).toHaveLength(2);
});

test('without credentials the message says what to do', async () => {
  const { outcome, seen } = await ask({ variables: { GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/adc.json' } });
  expect(outcome).toMatchObject({
    failure: {
      kind: 'auth',
      message: expect.stringMatching(/^No Google Cloud credentials found: .*gcloud auth/),
    },
  });
  expect(seen).toEqual([]);
});

test.each([
  [
    'vertex/us-east5/claude-sonnet-4-5@20250929',
    {},
    'locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:',
  ],
  ['vertex/sonnet', {}, 'locations/europe-west1/publishers/anthropic/models/claude-sonnet-5-5:'],
  [
    'vertex/claude-sonnet-4-5',
    { VERTEX_REGION_CLAUDE_4_5_SONNET: 'asia-east1' },
    'locations/asia-east1/publishers/anthropic/models/claude-sonnet-4-5@20250929:',
  ],
])('%s with %j is sent to %s', async (model, variables, path) => {
  const { outcome, seen } = await ask({ variables: { CLOUDSDK_AUTH_ACCESS_TOKEN: 'right', ...variables } }, { model });
  expect(outcome.ok).toBe(true);
  expect(seen[0]?.path).toContain(path);
});

test.each([
  [429, 'Quota exceeded for aiplatform.googleapis.com', 'rate_limited'],
  [403, 'Permission denied on resource project our-project.', 'auth'],
  [404, 'Publisher Model was not found.', 'not_found'],
])('%i "%s" is %s', async (code, message, kind) => {
  const script = { turns: [], after: status(code, message) };
  const { outcome } = await ask({ variables: { CLOUDSDK_AUTH_ACCESS_TOKEN: 'right' } }, { script });
  expect(outcome).toMatchObject({ ok: false, failure: { kind, status: code } });
});
