import { expect, test } from 'vitest';
import type { McpServerConfig } from '../../../src/contracts/settings.ts';
import { type ConfigParts, readMcpConfig } from '../../../src/mcp/config/config.ts';
import { launchDetails } from '../../../src/mcp/config/configured-server.ts';

const variable = (name: string) => `\${${name}}`;
const PROJECT = JSON.stringify({
  mcpServers: {
    docs: { command: 'docs-server', args: ['--port', variable('PORT:-80')], env: { TOKEN: variable('TOKEN') } },
    web: { url: 'https://example.com/mcp', headers: { 'x-key': 'k' } },
  },
});

function parts(given: Partial<ConfigParts> = {}): ConfigParts {
  return {
    cwd: '/p',
    folders: ['/p'],
    trusted: true,
    layers: [],
    flags: [],
    sources: 'all',
    projectFile: 'read',
    approvals: {},
    disabled: [],
    enabled: [],
    variables: { TOKEN: 'secret' },
    readText: async (path) => (path === '/p/.mcp.json' ? PROJECT : undefined),
    ...given,
  };
}

const user = (servers: Readonly<Record<string, McpServerConfig>>) => ({
  source: 'user' as const,
  file: '/u/settings.json',
  settings: { mcpServers: servers },
  lineOf: () => undefined,
});

test('what a project names waits for approval, with its variables filled in', async () => {
  const { servers, problems } = await readMcpConfig(parts());
  expect(problems).toEqual([]);
  expect(servers).toMatchObject([
    {
      name: 'docs',
      scope: 'project',
      launch: { kind: 'stdio', args: ['--port', '80'], env: { TOKEN: 'secret' } },
      // As the file says it: what is asked for must show, not what it holds.
      held: {
        why: 'approval',
        words: `comes from the project and waits for approval: docs-server --port ${variable('PORT:-80')}, given TOKEN=${variable('TOKEN')}`,
      },
    },
    {
      name: 'web',
      launch: { kind: 'http', url: 'https://example.com/mcp' },
      held: { why: 'approval', words: expect.stringContaining(', given x-key=k') },
    },
  ]);
});

test('an approval holds for what was approved and for nothing else', async () => {
  const [docs] = (await readMcpConfig(parts())).servers;
  const approvals = { docs: { hash: docs?.hash ?? '', verdict: 'approved' as const } };
  const approved = await readMcpConfig(parts({ approvals }));
  const changed = await readMcpConfig(
    parts({ approvals, readText: async () => PROJECT.replace('docs-server', 'evil-server') }),
  );
  expect([approved.servers[0]?.held, changed.servers[0]?.held]).toEqual([
    undefined,
    { why: 'approval', words: expect.stringContaining('was changed since') },
  ]);
});

test('a folder that is not trusted names no servers, a person and a flag do', async () => {
  const flags = [JSON.stringify({ mcpServers: { flagged: { command: 'f' } } })];
  const { servers } = await readMcpConfig(parts({ trusted: false, flags, layers: [user({ mine: { command: 'm' } })] }));
  expect(servers.map(({ name, held }) => [name, held])).toEqual([
    ['flagged', undefined],
    ['mine', undefined],
  ]);
});

test('of two servers of one name the stronger place wins, and strict takes flags alone', async () => {
  const flags = [JSON.stringify({ mcpServers: { docs: { command: 'from-flag' } } })];
  const layers = [user({ docs: { command: 'from-user' }, other: { command: 'o' } })];
  const all = await readMcpConfig(parts({ flags, layers }));
  const strict = await readMcpConfig(parts({ flags, layers, sources: 'flags-only' }));
  expect(all.servers.map(({ name, scope }) => `${name} ${scope}`)).toEqual(['docs flag', 'other user', 'web project']);
  expect(strict.servers.map(({ name }) => name)).toEqual(['docs']);
});

test.each([
  ['{ "mcpServers": ', 'is not JSON'],
  ['{ "servers": {} }', 'has no object "mcpServers"'],
  ['{ "mcpServers": { "x": {} } }', 'needs "command" or "url"'],
  ['{ "mcpServers": { "x": { "command": "c", "arg": [] } } }', 'did you mean "args"'],
  ['{ "mcpServers": { "x": { "command": "c", "args": "no" } } }', '"args"'],
  ['{ "mcpServers": { "x": { "url": "ftp://x" } } }', 'is no http address'],
  [`{ "mcpServers": { "x": { "command": "${variable('NOT_SET')}" } } }`, 'NOT_SET is not set'],
])('%s is told and costs only itself', async (text, words) => {
  const layers = [user({ good: { command: 'g' } })];
  const { servers, problems } = await readMcpConfig(parts({ layers, readText: async () => text }));
  expect(problems.map((problem) => problem.text).join()).toContain(words);
  expect(servers.filter(({ held }) => held === undefined).map(({ name }) => name)).toEqual(['good']);
});

test('a file that a flag names and that is not there is told', async () => {
  const { problems } = await readMcpConfig(parts({ flags: ['gone.json'] }));
  expect(problems).toEqual([{ file: '/p/gone.json', text: '--mcp-config names this file, but it is not there.' }]);
});

const VOUCHED = {
  url: 'https://mcp.example.com',
  oauth: {
    clientId: 'us',
    clientSecret: variable('OUR_SECRET'),
    identityProvider: {
      tokenEndpoint: `https://${variable('IDP')}/token`,
      clientId: 'at-idp',
      clientSecret: 'written down',
      idTokenCommand: `sign-in --token=abcdefgh "${variable('HOME')}"`,
    },
  },
};

const vouchedBy = (identityProvider: object, oauth: object = {}) =>
  readMcpConfig(
    parts({
      variables: { IDP: 'idp.example.com', OUR_SECRET: 's', ID: 'person' },
      readText: async () =>
        JSON.stringify({
          mcpServers: { company: { ...VOUCHED, oauth: { ...VOUCHED.oauth, ...oauth, identityProvider } } },
        }),
    }),
  );

test('a project does not have a command print an id token before somebody has read it whole', async () => {
  const { identityProvider } = VOUCHED.oauth;
  const { servers, problems } = await vouchedBy(identityProvider);
  expect(problems).toEqual([]);
  const [server] = servers;
  expect(server?.held).toMatchObject({ why: 'approval' });
  // Nothing of the command is left out, a variable is named, and what is written down is not shown.
  const words = server?.held?.words ?? '';
  expect(words).toContain(`printed by: ${identityProvider.idTokenCommand}`);
  expect(words).toContain(`"clientSecret":"${variable('OUR_SECRET')}"`);
  expect(words).not.toContain('written down');
  expect(server?.launch).toMatchObject({
    oauth: {
      clientSecret: 's',
      identityProvider: { ...identityProvider, tokenEndpoint: 'https://idp.example.com/token' },
    },
  });
  const changed = await vouchedBy({ ...identityProvider, idTokenCommand: 'another' });
  expect(changed.servers[0]?.hash).not.toBe(server?.hash);
});

test('an id token of a variable is named while it waits, and hidden where its value stands', async () => {
  const { idTokenCommand: _, ...provider } = VOUCHED.oauth.identityProvider;
  const { servers } = await vouchedBy({ ...provider, idToken: variable('ID') });
  expect(servers[0]?.held?.words).toContain(`"idToken":"${variable('ID')}"`);
  const launch = servers[0]?.launch;
  expect(launch).toMatchObject({ oauth: { identityProvider: { idToken: 'person' } } });
  expect(launch === undefined ? '' : launchDetails(launch)).not.toContain('person');
});

test.each([
  ['written down', '…'],
  [variable('A'), variable('A')],
  [variable('A:-fallback'), variable('A:-…')],
  [`Basic ${variable('A')}:x${variable('B')}$`, `…${variable('A')}…${variable('B')}…`],
])('of a secret %s an approval shows the variables alone', (clientSecret, shown) => {
  const launch = { kind: 'http', url: 'https://example.com', headers: {}, oauth: { clientSecret } } as const;
  expect(launchDetails(launch)).toContain(`"clientSecret":"${shown}"`);
});

test.each([
  ['both', { idToken: 'x' }, {}, 'either "idToken" or "idTokenCommand"'],
  ['neither', { idTokenCommand: undefined }, {}, 'either "idToken" or "idTokenCommand"'],
  ['a key nobody knows', { idTokenComand: 'x' }, {}, 'idTokenComand'],
  ['nobody to be', {}, { clientId: undefined }, 'needs the "clientId"'],
  ['another grant', {}, { grant: 'client_credentials' }, 'have no meaning'],
  ['no private way', { tokenEndpoint: 'http://idp.example.com/token' }, {}, 'is no https address'],
  ['no address', { tokenEndpoint: 'idp' }, {}, 'is no https address'],
])('an identity provider with %s is a mistake of the entry', async (_, provider, oauth, why) => {
  const { problems } = await vouchedBy({ ...VOUCHED.oauth.identityProvider, ...provider }, oauth);
  expect(problems).toMatchObject([{ text: expect.stringContaining(why) }]);
});
