import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCredentials } from '../../../src/mcp/login/credentials.ts';
import { login } from '../../../src/mcp/login/login.ts';
import { storedAuth } from '../../../src/mcp/login/stored-auth.ts';
import { startOAuthServer } from '../../support/api/oauth-server.ts';
import { callTool } from '../../support/call-tool.ts';
import { createTempProject } from '../../support/temp-project.ts';
import { configured, inTime, startHub } from '../servers.ts';

/** The person: follows the address to the page and back. */
const obedient = (address: URL) => void fetch(address);

test('a server that wants a login says so; after it the tools are there, and a token that ran out is renewed', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  const guarded = configured('guarded', { kind: 'http', url: server.url, headers: {} });
  {
    await using before = startHub([guarded], { ouroHome });
    await before.hub.settled();
    expect(before.hub.states()).toMatchObject([
      { status: 'needs-auth', error: 'wants a login: /mcp login guarded, or ouro mcp login guarded' },
    ]);
  }
  await login({ url: server.url, ouroHome, visit: obedient, signal: inTime() });
  expect((await stat(join(ouroHome, 'mcp-logins.json'))).mode & 0o777).toBe(0o600);
  server.expire();
  await using after = startHub([guarded], { ouroHome });
  await after.hub.settled();
  const [open] = after.hub.tools();
  expect(open === undefined ? undefined : (await callTool(open, {})).content).toBe('opened');
  expect(server.grants()).toEqual(['authorization_code', 'refresh_token']);
});

test('a login that is refused or given up keeps nothing of use', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  const refuse = (address: URL) => {
    const back = new URL(address.searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('state', address.searchParams.get('state') ?? '');
    back.searchParams.set('error', 'access_denied');
    void fetch(back);
  };
  await expect(login({ url: server.url, ouroHome, visit: refuse, signal: inTime() })).rejects.toThrow('access_denied');
  const controller = new AbortController();
  const given = login({ url: server.url, ouroHome, visit: () => controller.abort(), signal: controller.signal });
  await expect(given).rejects.toThrow('given up');
  expect((await openCredentials(ouroHome).of(server.url))?.tokens).toBeUndefined();
});

test('an answer with a foreign state is no answer', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const statuses: number[] = [];
  const visit = async (address: URL) => {
    const forged = new URL(address.searchParams.get('redirect_uri') ?? '');
    forged.searchParams.set('state', 'made up');
    forged.searchParams.set('code', 'stolen');
    statuses.push((await fetch(forged)).status);
    statuses.push((await fetch(address)).status);
  };
  await login({
    url: server.url,
    ouroHome: project.ouroHome,
    visit: (address) => void visit(address),
    signal: inTime(),
  });
  expect(statuses[0]).toBe(404);
});

test('connections that renew one login at once, in one ouro or in several, ask for one renewal and keep it', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  await login({ url: server.url, ouroHome, visit: obedient, signal: inTime() });
  const guarded = (name: string) => configured(name, { kind: 'http', url: server.url, headers: {} });
  for (const _ of [1, 2, 3]) {
    server.expire();
    const hubs = [1, 2].map(() =>
      startHub(
        [1, 2, 3, 4].map((n) => guarded(`s${n}`)),
        { ouroHome },
      ),
    );
    await Promise.all(hubs.map(({ hub }) => hub.settled()));
    expect(hubs.flatMap(({ hub }) => hub.states().map(({ status }) => status))).toEqual(Array(8).fill('connected'));
    await Promise.all(hubs.map((one) => one[Symbol.asyncDispose]()));
  }
  expect(server.grants().filter((grant) => grant === 'refresh_token')).toHaveLength(3);
  expect(await openCredentials(ouroHome).of(server.url)).toMatchObject({
    tokens: { refresh_token: expect.any(String) },
  });
});

test('a new login that fails leaves the one that is kept', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  await login({ url: server.url, ouroHome, visit: obedient, signal: inTime() });
  const kept = await openCredentials(ouroHome).of(server.url);
  const controller = new AbortController();
  const given = login({ url: server.url, ouroHome, visit: () => controller.abort(), signal: controller.signal });
  await expect(given).rejects.toThrow('given up');
  expect(await openCredentials(ouroHome).of(server.url)).toEqual(kept);
});

test('a login is forgotten when its server refuses it, but not one that somebody renewed meanwhile', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  await login({ url: server.url, ouroHome, visit: obedient, signal: inTime() });
  const entry = configured('guarded', { kind: 'http', url: server.url, headers: {} });
  const store = openCredentials(ouroHome);
  const parts = { ouroHome, cwd: project.dir, env: () => ({}) };
  const [one, other] = [await storedAuth(entry, parts), await storedAuth(entry, parts)].map(
    (kept) => kept?.authProvider,
  );
  await one?.tokens();
  await other?.tokens();
  const fresh = { access_token: 'new', token_type: 'Bearer', refresh_token: 'new' };
  await other?.saveTokens(fresh);
  await one?.invalidateCredentials?.('tokens');
  expect((await store.of(server.url))?.tokens).toEqual(fresh);
  await other?.invalidateCredentials?.('tokens');
  expect(await store.of(server.url)).toEqual({ client: expect.anything() });
});
