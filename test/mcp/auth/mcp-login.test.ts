import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fetch } from '../../../src/lib/network/fetch.ts';
import { openMcpCredentialStore } from '../../../src/mcp/auth/mcp-credentials.ts';
import { loginToMcpServer } from '../../../src/mcp/auth/mcp-login.ts';
import { createStoredMcpAuth } from '../../../src/mcp/auth/stored-login-provider.ts';
import { startOAuthServer } from '../../support/api/oauth-server.ts';
import { callTool } from '../../support/call-tool.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject } from '../../support/temp-project.ts';
import { configured, inTime, startHub } from '../servers.ts';

/** The person: follows the address to the page and back. */
const obedient = (address: URL) => void fetch(address);

test('a server that needs a login reports it; then its tools work, and an expired token is renewed', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  const guarded = configured('guarded', { kind: 'http', url: server.url, headers: {} });
  {
    await using before = startHub([guarded], { ouroHome });
    await before.hub.whenSettled();
    expect(before.hub.listStates()).toMatchObject([
      { status: 'needs-auth', error: 'needs a login: run /mcp login guarded or ouro mcp login guarded' },
    ]);
  }
  await loginToMcpServer({ url: server.url, ouroHome, openPage: obedient, signal: inTime() });
  expect((await stat(join(ouroHome, 'mcp-logins.json'))).mode & 0o777).toBe(0o600);
  server.expire();
  await using after = startHub([guarded], { ouroHome });
  await after.hub.whenSettled();
  const [open] = after.hub.listTools();
  expect(open === undefined ? undefined : (await callTool(open, {})).content).toBe('opened');
  expect(server.grants()).toEqual(['authorization_code', 'refresh_token']);
});

test('a refused or cancelled login stores nothing usable', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  const refuse = (address: URL) => {
    const back = new URL(address.searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('state', address.searchParams.get('state') ?? '');
    back.searchParams.set('error', 'access_denied');
    void fetch(back);
  };
  await expect(loginToMcpServer({ url: server.url, ouroHome, openPage: refuse, signal: inTime() })).rejects.toThrow(
    'access_denied',
  );
  const controller = new AbortController();
  const given = loginToMcpServer({
    url: server.url,
    ouroHome,
    openPage: () => controller.abort(),
    signal: controller.signal,
  });
  await expect(given).rejects.toThrow('was cancelled');
  expect((await openMcpCredentialStore(ouroHome).get(server.url))?.tokens).toBeUndefined();
});

test('an answer with a wrong state is ignored', async () => {
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
  await loginToMcpServer({
    url: server.url,
    ouroHome: project.ouroHome,
    openPage: (address) => void visit(address),
    signal: inTime(),
  });
  expect(statuses[0]).toBe(404);
});

longTest('concurrent renewals, in one process or several, request and store one token', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  await loginToMcpServer({ url: server.url, ouroHome, openPage: obedient, signal: inTime() });
  const guarded = (name: string) => configured(name, { kind: 'http', url: server.url, headers: {} });
  for (const _ of [1, 2, 3]) {
    server.expire();
    const hubs = [1, 2].map(() =>
      startHub(
        [1, 2, 3, 4].map((n) => guarded(`s${n}`)),
        { ouroHome },
      ),
    );
    await Promise.all(hubs.map(({ hub }) => hub.whenSettled()));
    expect(hubs.flatMap(({ hub }) => hub.listStates().map(({ status }) => status))).toEqual(Array(8).fill('connected'));
    await Promise.all(hubs.map((one) => one[Symbol.asyncDispose]()));
  }
  expect(server.grants().filter((grant) => grant === 'refresh_token')).toHaveLength(3);
  expect(await openMcpCredentialStore(ouroHome).get(server.url)).toMatchObject({
    tokens: { refresh_token: expect.any(String) },
  });
});

test.each([
  ['error', 'HTTP 500'],
  ['cut', 'ECONNRESET'],
] as const)('a renewal that fails for a while (%s) needs no new login', async (how, reason) => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  await loginToMcpServer({ url: server.url, ouroHome, openPage: obedient, signal: inTime() });
  await using started = startHub([configured('guarded', { kind: 'http', url: server.url, headers: {} })], { ouroHome });
  await started.hub.whenSettled();
  const [tool] = started.hub.listTools();
  if (tool === undefined) throw new Error('The server has no tool.');
  server.expire();
  server.breakTokens(how);
  await expect(callTool(tool, {})).rejects.toThrow(`The login could not be renewed (${reason}). Try again later.`);
  server.breakTokens('never');
  expect(started.hub.listStates().map(({ status }) => status)).not.toContain('needs-auth');
  expect((await openMcpCredentialStore(ouroHome).get(server.url))?.tokens).toBeDefined();
});

longTest('a token endpoint that hangs ends a call after ten seconds, by name, and needs no new login', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  await loginToMcpServer({ url: server.url, ouroHome, openPage: obedient, signal: inTime() });
  await using started = startHub([configured('guarded', { kind: 'http', url: server.url, headers: {} })], { ouroHome });
  await started.hub.whenSettled();
  const [tool] = started.hub.listTools();
  if (tool === undefined) throw new Error('The server has no tool.');
  server.expire();
  server.breakTokens('hang');
  const { origin } = new URL(server.url);
  await expect(callTool(tool, {})).rejects.toThrow(
    `The MCP server guarded was not called. The authorization server ${origin} did not answer within 10 s.`,
  );
  server.breakTokens('never');
  expect((await callTool(tool, {})).content).toBe('opened');
});

test('a failed new login keeps the stored one', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  await loginToMcpServer({ url: server.url, ouroHome, openPage: obedient, signal: inTime() });
  const kept = await openMcpCredentialStore(ouroHome).get(server.url);
  const controller = new AbortController();
  const given = loginToMcpServer({
    url: server.url,
    ouroHome,
    openPage: () => controller.abort(),
    signal: controller.signal,
  });
  await expect(given).rejects.toThrow('was cancelled');
  expect(await openMcpCredentialStore(ouroHome).get(server.url)).toEqual(kept);
});

test('a login is removed when its server refuses it, unless it was renewed meanwhile', async () => {
  await using server = await startOAuthServer();
  await using project = await createTempProject();
  const { ouroHome } = project;
  await loginToMcpServer({ url: server.url, ouroHome, openPage: obedient, signal: inTime() });
  const entry = configured('guarded', { kind: 'http', url: server.url, headers: {} });
  const store = openMcpCredentialStore(ouroHome);
  const parts = { ouroHome, cwd: project.dir, env: () => ({}) };
  const [one, other] = [await createStoredMcpAuth(entry, parts), await createStoredMcpAuth(entry, parts)].map(
    (kept) => kept?.authProvider,
  );
  await one?.tokens();
  await other?.tokens();
  const fresh = { access_token: 'new', token_type: 'Bearer', refresh_token: 'new' };
  await other?.saveTokens(fresh);
  await one?.invalidateCredentials?.('tokens');
  expect((await store.get(server.url))?.tokens).toEqual(fresh);
  await other?.invalidateCredentials?.('tokens');
  expect(await store.get(server.url)).toEqual({ client: expect.anything() });
});
