import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { CloudSettings } from '../../../src/model/providers/cloud-settings.ts';
import { openEntraTokenSource } from '../../../src/model/providers/entra-token.ts';
import { createModelRegistry } from '../../../src/model/registry/model-registry.ts';
import { says } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { createTempProject } from '../../support/temp-project.ts';
import { drain, REQUEST } from '../support.ts';

async function ask(settings: Partial<CloudSettings>, apiKey = 'right') {
  await using server = await startApiServer({ turns: [], after: says('Hello.'), apiKey });
  const variables = { ANTHROPIC_FOUNDRY_BASE_URL: `${server.url}/anthropic`, PATH: '/nowhere', ...settings.variables };
  const choice = createModelRegistry({ model: 'foundry/our-sonnet', clouds: { keys: {}, ...settings, variables } });
  if (!choice.ok) throw new Error(choice.problem);
  const { outcome } = await drain(choice.port, { request: { ...REQUEST, model: choice.model } });
  return { outcome, seen: server.requests() };
}

test('an API key is sent, and nothing else', async () => {
  const { outcome, seen } = await ask({ keys: { ANTHROPIC_FOUNDRY_API_KEY: 'right' } });
  expect(outcome.ok).toBe(true);
  expect(seen[0]).toMatchObject({ path: '/anthropic/v1/messages', body: { model: 'our-sonnet' } });
  expect(seen[0]?.headers).toMatchObject({ 'x-api-key': 'right' });
  expect(seen[0]?.headers.authorization).toBeUndefined();
});

test('a service principal sends its secret to Entra, and the returned token', async () => {
  const asked: (readonly [string | undefined, string | null])[] = [];
  const entra = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push([request.url, new URLSearchParams(body).get('client_secret')]);
      response.end(JSON.stringify({ token_type: 'Bearer', expires_in: 3600, access_token: 'right' }));
    });
  });
  entra.listen(0, '127.0.0.1');
  await once(entra, 'listening');
  const address = entra.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const variables = {
    AZURE_AUTHORITY_HOST: `http://127.0.0.1:${port}`,
    AZURE_TENANT_ID: 'tenant',
    AZURE_CLIENT_ID: 'client',
    AZURE_CLIENT_SECRET: 'secret',
  };
  const { outcome, seen } = await ask({ variables });
  entra.closeAllConnections();
  entra.close();
  expect(outcome.ok).toBe(true);
  expect(asked).toEqual([['/tenant/oauth2/v2.0/token', 'secret']]);
  expect(seen[0]?.headers['x-api-key']).toBeUndefined();
});

test('a user signed in with az needs no key, and is asked once for many requests', async () => {
  await using project = await createTempProject();
  const az = join(project.dir, 'az');
  const token = JSON.stringify({ accessToken: 'right', expires_on: Math.round(Date.now() / 1000) + 3600 });
  await writeFile(az, `#!/bin/sh\necho "$@" >> '${project.dir}/asked'\necho '${token}'\n`, { mode: 0o755 });
  const source = openEntraTokenSource({ variables: { PATH: `${project.dir}:/usr/bin:/bin` }, keys: {} });
  expect([await source(), await source()]).toEqual(['right', 'right']);
  expect(await readFile(join(project.dir, 'asked'), 'utf8')).toBe(
    'account get-access-token --resource https://cognitiveservices.azure.com --output json\n',
  );
});

test.each([
  ['that its surroundings name', (url: string) => ({ IDENTITY_ENDPOINT: `${url}/msi`, IDENTITY_HEADER: 'proof' })],
  [
    'that all machines have, where that is asked for',
    (url: string) => ({
      AZURE_POD_IDENTITY_AUTHORITY_HOST: url,
      AZURE_TOKEN_CREDENTIALS: 'prod',
      AZURE_CLIENT_ID: 'me',
    }),
  ],
])('a managed identity is requested at %s', async (where, surroundings) => {
  const asked: object[] = [];
  const entra = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    asked.push({ pathname, client: searchParams.get('client_id'), proof: request.headers['x-identity-header'] });
    response.end(JSON.stringify({ token_type: 'Bearer', expires_in: '3600', access_token: 'right' }));
  });
  entra.listen(0, '127.0.0.1');
  await once(entra, 'listening');
  const address = entra.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const source = openEntraTokenSource({ variables: surroundings(`http://127.0.0.1:${port}`), keys: {} });
  expect([await source(), await source()]).toEqual(['right', 'right']);
  entra.closeAllConnections();
  entra.close();
  expect(asked).toEqual([
    where.startsWith('that its')
      ? { pathname: '/msi', client: null, proof: 'proof' }
      : { pathname: '/metadata/identity/oauth2/token', client: 'me', proof: undefined },
  ]);
});

test('without credentials the message says what to set', async () => {
  const { outcome } = await ask({});
  expect(outcome).toMatchObject({
    failure: {
      kind: 'auth',
      message: expect.stringMatching(/^Cannot get a Microsoft Entra token: .*ANTHROPIC_FOUNDRY_API_KEY/),
    },
  });
  expect(createModelRegistry({ model: 'foundry/sonnet' })).toMatchObject({
    ok: false,
    problem: expect.stringContaining('ANTHROPIC_FOUNDRY_RESOURCE'),
  });
});

test('a token endpoint that hangs is named', async () => {
  const hang: typeof fetch = Object.assign(
    (_: unknown, init?: RequestInit) =>
      new Promise<Response>((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
    { preconnect: () => undefined },
  );
  const variables = { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c', AZURE_CLIENT_SECRET: 's' };
  const source = openEntraTokenSource({ variables, keys: {} }, hang, Date.now, 20);
  await expect(source()).rejects.toThrow(
    'Cannot get a Microsoft Entra token: https://login.microsoftonline.com did not answer within 0.02 s.',
  );
});
