import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { expect, test } from 'vitest';
import { createEnterpriseAuth } from '../../../src/mcp/auth/enterprise-auth.ts';
import type { McpIdentityProvider } from '../../../src/mcp/auth/identity-provider.ts';
import { loginToMcpServer } from '../../../src/mcp/auth/mcp-login.ts';
import type { OAuthConfig } from '../../../src/mcp/configured-mcp-server.ts';
import { type CompanyFaults, startCompany } from '../../support/api/company-server.ts';
import { callTool } from '../../support/call-tool.ts';
import { someOf } from '../../support/runs.ts';
import { createTempProject } from '../../support/temp-project.ts';
import { configured, inTime, startHub } from '../servers.ts';

type Company = Awaited<ReturnType<typeof startCompany>>;
type Given = { readonly oauth?: OAuthConfig; readonly provider?: Partial<McpIdentityProvider>; readonly cwd?: string };

function entryOf({ url, base }: Company, { oauth, provider }: Given) {
  const identityProvider = { tokenEndpoint: `${base}/idp/token`, clientId: 'at-idp', idToken: 'person', ...provider };
  const choice = { clientId: 'us', clientSecret: 'secret', identityProvider, ...oauth };
  return configured('company', { kind: 'http', url, headers: { 'x-team': 'core' }, oauth: choice });
}

async function connected(company: Company, given: Given = {}) {
  const variables = { PATH: process.env.PATH ?? '', HIDDEN: 'from servers' };
  const started = startHub([entryOf(company, given)], { variables, cwd: given.cwd ?? tmpdir() });
  await started.hub.whenSettled();
  const call = async () => {
    const [open] = started.hub.listTools();
    return open === undefined ? undefined : callTool(open, {}).then(({ content }) => content);
  };
  return { ...started, state: () => started.hub.listStates()[0], call };
}

/** Who was asked, for how much. */
const asked = (company: Company) =>
  company.requests().map(({ grant_type, scope }) => [grant_type?.split(':').at(-1), scope]);

test('enterprise login: no page is visited, scopes are extended on demand, and an expired token is renewed', async () => {
  await using company = await startCompany();
  await using server = await connected(company);
  expect(server.state()).toMatchObject({ status: 'connected' });
  const [exchange, bearer] = company.requests();
  expect(exchange).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    subject_token: 'person',
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    audience: company.base,
    resource: company.url,
    scope: 'read',
    client_id: 'at-idp',
  });
  expect(bearer).toMatchObject({ assertion: expect.any(String), resource: company.url, scope: 'read' });
  expect(await server.call()).toBe('opened');
  expect(await server.call()).toBe('opened');
  company.expire();
  expect(await server.call()).toBe('opened');
  expect(asked(company)).toEqual([
    ['token-exchange', 'read'],
    ['jwt-bearer', 'read'],
    ['token-exchange', 'read write'],
    ['jwt-bearer', 'read write'],
    ['token-exchange', 'read write'],
    ['jwt-bearer', 'read write'],
  ]);
});

test('the id token is the output of the command, run in the environment of a server and outside of the workspace', async () => {
  await using project = await createTempProject();
  await using company = await startCompany();
  const token = join(project.home, 'token');
  await writeFile(token, 'person-1\n');
  const idTokenCommand = `cat '${token}'; test -z "$HIDDEN" && test "$PWD" = /`;
  const provider = { idToken: undefined, idTokenCommand, clientSecret: 'idp:secret' };
  await using server = await connected(company, { provider, cwd: project.dir });
  await writeFile(token, 'person-2\n');
  company.expire();
  expect(await server.call()).toBe('opened');
  const exchanges = company.requests().filter(({ subject_token }) => subject_token !== undefined);
  expect(exchanges.map(({ subject_token, client_id }) => [subject_token, client_id])).toEqual([
    ['person-1', undefined],
    ['person-2', undefined],
    ['person-2', undefined],
  ]);
});

const FAILURES: readonly [name: string, faults: CompanyFaults, given: Given, why: RegExp][] = [
  [
    'a command fails',
    {},
    { provider: { idToken: undefined, idTokenCommand: 'echo locked >&2; exit 3' } },
    /idTokenCommand\) failed: locked$/,
  ],
  [
    'a command prints nothing',
    {},
    { provider: { idToken: undefined, idTokenCommand: 'true' } },
    /printed no id token\.$/,
  ],
  [
    'a command prints a page',
    {},
    { provider: { idToken: undefined, idTokenCommand: 'echo sign in' } },
    /printed more than an id token\.$/,
  ],
  [
    'the provider knows nobody',
    {},
    { provider: { idToken: 'stranger' } },
    /^The identity provider http:\S+ issued no assertion: invalid_grant: Who\?\.$/,
  ],
  ['the provider is broken', { idp: [502, {}] }, {}, /issued no assertion: HTTP status 502\.$/],
  [
    'the provider gives something else',
    { idp: [200, { access_token: 'x', token_type: 'Bearer' }] },
    {},
    /without an assertion/,
  ],
  [
    'the provider sends elsewhere',
    { idp: [307, {}, { location: '/token' }] },
    {},
    /^The identity provider http:\S+ could not be reached: /,
  ],
  [
    'the word is not taken',
    {},
    { oauth: { clientSecret: 'wrong' } },
    /^The authorization server http:\S+ refused the assertion of the identity provider: invalid_client\.$/,
  ],
  ['a server of tokens says something else', { tokens: [500, {}] }, {}, /: HTTP status 500\.$/],
  [
    'a server is not who it says',
    { issuer: 'https://other.example.com' },
    {},
    /identifies itself as https:\/\/other\.example\.com\. No credentials were sent\.$/,
  ],
  [
    'a server is not the one of the entry',
    {},
    { oauth: { issuer: 'https://own.example.com' } },
    /but its entry says https:\/\/own\.example\.com\. No credentials were sent\.$/,
  ],
  ['a server takes no token', { refusesAll: true }, {}, /refused \(401\) the token of its own authorization server/],
];

test.each(someOf(FAILURES, 3))(
  '%s: the error names it, and no browser login is offered',
  async (_, faults, given, why) => {
    await using company = await startCompany(faults);
    await using server = await connected(company, given);
    expect(server.state()).toMatchObject({ status: 'failed' });
    expect(server.state()?.error?.replace('is not connected: ', '')).toMatch(why);
    if (/No credentials/.test(why.source.replaceAll('\\', ''))) expect(company.requests()).toEqual([]);
  },
);

test('scopes that the provider refuses are not requested again by the next renewal', async () => {
  await using company = await startCompany({ most: ['read'] });
  await using server = await connected(company);
  await expect(server.call()).rejects.toThrow('issued no assertion: invalid_scope: Not write.');
  const refused = await Promise.allSettled([server.call(), server.call()]);
  for (const one of refused) expect(one).toMatchObject({ reason: { message: expect.stringMatching('invalid_scope') } });
  company.expire();
  await expect(server.call()).rejects.toThrow('invalid_scope');
  expect(server.state()).toMatchObject({ status: 'connected' });
  expect(asked(company).map(([, scope]) => scope)).toEqual([
    'read',
    'read',
    'read write',
    'read write',
    'read',
    'read',
    'read write',
  ]);
});

test('a token refused at another URL of the server is renewed as well', async () => {
  await using company = await startCompany();
  const { launch } = entryOf(company, {});
  if (launch.kind !== 'http' || launch.oauth?.identityProvider === undefined) return expect.unreachable();
  const surroundings = { cwd: tmpdir(), env: () => ({}) };
  const { authProvider, fetch } = createEnterpriseAuth(
    company.url,
    launch.oauth,
    launch.oauth.identityProvider,
    surroundings,
  );
  const say = async () => {
    const authorization = `Bearer ${(await authProvider.tokens())?.access_token}`;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    return (await fetch(`${company.base}/messages`, { method: 'POST', headers: { authorization }, body })).status;
  };
  const statuses: number[] = [];
  for (const _ of [1, 2]) {
    await auth(authProvider, { serverUrl: company.url, fetchFn: fetch });
    statuses.push(await say());
    company.expire();
    statuses.push(await say());
  }
  expect(statuses).toEqual([200, 401, 200, 401]);
});

test('concurrent calls with an expired token ask the identity provider once', async () => {
  await using company = await startCompany();
  await using server = await connected(company);
  await server.call();
  const before = company.requests().length;
  for (const times of [1, 2]) {
    company.expire();
    expect(await Promise.all([1, 2, 3, 4, 5].map(server.call))).toEqual(Array(5).fill('opened'));
    expect(company.requests()).toHaveLength(before + times * 2);
  }
});

test('configures enterprise login where ouro logs in by itself', async () => {
  await using company = await startCompany();
  await using project = await createTempProject();
  const { launch } = entryOf(company, {});
  const oauth = launch.kind === 'http' ? launch.oauth : undefined;
  const openPage = () => expect.unreachable();
  await expect(
    loginToMcpServer({ url: company.url, oauth, ouroHome: project.ouroHome, openPage, signal: inTime() }),
  ).rejects.toThrow('configures a login without a web page');
});
