import { expect, test } from 'vitest';
import type { McpServerConfig } from '../../../src/contracts/hook-and-server-schemas.ts';
import { type McpConfigInput, resolveMcpConfig } from '../../../src/mcp/config/resolve-config.ts';
import { type ConfiguredMcpServer, describeMcpLaunchDetails } from '../../../src/mcp/configured-mcp-server.ts';

const variable = (name: string) => `\${${name}}`;
const PROJECT = JSON.stringify({
  mcpServers: {
    docs: { command: 'docs-server', args: ['--port', variable('PORT:-80')], env: { TOKEN: variable('TOKEN') } },
    web: { url: 'https://example.com/mcp', headers: { 'x-key': 'k' } },
  },
});

function parts(given: Partial<McpConfigInput> = {}): McpConfigInput {
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

test('a project server waits for approval, with its variables expanded', async () => {
  const { servers, problems } = await resolveMcpConfig(parts());
  expect(problems).toEqual([]);
  expect(servers).toMatchObject([
    {
      name: 'docs',
      scope: 'project',
      launch: { kind: 'stdio', args: ['--port', '80'], env: { TOKEN: 'secret' } },
    },
    { name: 'web', launch: { kind: 'http', url: 'https://example.com/mcp' } },
  ]);
  // The question shows the text of the file, not the values of its variables.
  expect(servers.map(({ blocked }) => blocked)).toEqual([
    {
      reason: 'approval',
      message: `waits for approval: docs-server --port ${variable('PORT:-80')}, with TOKEN=${variable('TOKEN')}`,
    },
    { reason: 'approval', message: expect.stringContaining(', with x-key=k') },
  ] satisfies readonly ConfiguredMcpServer['blocked'][]);
});

test('an approval applies to exactly what was approved', async () => {
  const [docs] = (await resolveMcpConfig(parts())).servers;
  const approvals = { docs: { hash: docs?.hash ?? '', verdict: 'approved' as const } };
  const approved = await resolveMcpConfig(parts({ approvals }));
  const changed = await resolveMcpConfig(
    parts({ approvals, readText: async () => PROJECT.replace('docs-server', 'evil-server') }),
  );
  expect([approved.servers[0]?.blocked, changed.servers[0]?.blocked]).toEqual([
    undefined,
    { reason: 'approval', message: expect.stringContaining('changed since') },
  ] satisfies readonly ConfiguredMcpServer['blocked'][]);
});

test('an untrusted folder defines no servers, user settings and flags do', async () => {
  const flags = [JSON.stringify({ mcpServers: { flagged: { command: 'f' } } })];
  const { servers } = await resolveMcpConfig(
    parts({ trusted: false, flags, layers: [user({ mine: { command: 'm' } })] }),
  );
  expect(servers.map(({ name, blocked }) => [name, blocked])).toEqual([
    ['flagged', undefined],
    ['mine', undefined],
  ]);
});

test('of two servers with one name the stronger source wins, and strict uses flags only', async () => {
  const flags = [JSON.stringify({ mcpServers: { docs: { command: 'from-flag' } } })];
  const layers = [user({ docs: { command: 'from-user' }, other: { command: 'o' } })];
  const all = await resolveMcpConfig(parts({ flags, layers }));
  const strict = await resolveMcpConfig(parts({ flags, layers, sources: 'flags-only' }));
  expect(all.servers.map(({ name, scope }) => `${name} ${scope}`)).toEqual(['docs flag', 'other user', 'web project']);
  expect(strict.servers.map(({ name }) => name)).toEqual(['docs']);
});

test.each([
  ['{ "mcpServers": ', 'is not valid JSON'],
  ['{ "servers": {} }', 'has no "mcpServers" object'],
  ['{ "mcpServers": { "x": {} } }', 'needs "command" or "url"'],
  ['{ "mcpServers": { "x": { "command": "c", "arg": [] } } }', 'did you mean "args"'],
  ['{ "mcpServers": { "x": { "command": "c", "args": "no" } } }', '"args"'],
  ['{ "mcpServers": { "x": { "url": "ftp://x" } } }', 'is not an HTTP address'],
  [`{ "mcpServers": { "x": { "command": "${variable('NOT_SET')}" } } }`, 'NOT_SET is not set'],
])('%s is reported and affects only itself', async (text, words) => {
  const layers = [user({ good: { command: 'g' } })];
  const { servers, problems } = await resolveMcpConfig(parts({ layers, readText: async () => text }));
  expect(problems.map((problem) => problem.text).join()).toContain(words);
  expect(servers.filter(({ blocked }) => blocked === undefined).map(({ name }) => name)).toEqual(['good']);
});

test('a missing file named by a flag is reported', async () => {
  const { problems } = await resolveMcpConfig(parts({ flags: ['gone.json'] }));
  expect(problems).toEqual([{ file: '/p/gone.json', text: '--mcp-config names this file, but it does not exist.' }]);
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
  resolveMcpConfig(
    parts({
      variables: { IDP: 'idp.example.com', OUR_SECRET: 's', ID: 'person' },
      readText: async () =>
        JSON.stringify({
          mcpServers: { company: { ...VOUCHED, oauth: { ...VOUCHED.oauth, ...oauth, identityProvider } } },
        }),
    }),
  );

test('a command for an id token in a project is not run before it was shown in full', async () => {
  const { identityProvider } = VOUCHED.oauth;
  const { servers, problems } = await vouchedBy(identityProvider);
  expect(problems).toEqual([]);
  const [server] = servers;
  expect(server?.blocked?.reason).toBe('approval');
  // Nothing of the command is left out, a variable is named, and what is written down is not shown.
  const words = server?.blocked?.message ?? '';
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

test('a variable with an id token is named while waiting, and hidden where its value is shown', async () => {
  const { idTokenCommand: _, ...provider } = VOUCHED.oauth.identityProvider;
  const { servers } = await vouchedBy({ ...provider, idToken: variable('ID') });
  expect(servers[0]?.blocked?.message).toContain(`"idToken":"${variable('ID')}"`);
  const launch = servers[0]?.launch;
  expect(launch).toMatchObject({ oauth: { identityProvider: { idToken: 'person' } } });
  expect(launch === undefined ? '' : describeMcpLaunchDetails(launch)).not.toContain('person');
});

test.each([
  ['written down', '…'],
  [variable('A'), variable('A')],
  [variable('A:-fallback'), variable('A:-…')],
  [`Basic ${variable('A')}:x${variable('B')}$`, `…${variable('A')}…${variable('B')}…`],
])('of a secret %s an approval shows the variables only', (clientSecret, shown) => {
  const launch = { kind: 'http', url: 'https://example.com', headers: {}, oauth: { clientSecret } } as const;
  expect(describeMcpLaunchDetails(launch)).toContain(`"clientSecret":"${shown}"`);
});

test.each([
  ['both', { idToken: 'x' }, {}, 'either "idToken" or "idTokenCommand"'],
  ['neither', { idTokenCommand: undefined }, {}, 'either "idToken" or "idTokenCommand"'],
  ['a key nobody knows', { idTokenComand: 'x' }, {}, 'idTokenComand'],
  ['nobody to be', {}, { clientId: undefined }, 'needs "clientId"'],
  ['another grant', {}, { grant: 'client_credentials' }, 'cannot be used'],
  ['no private way', { tokenEndpoint: 'http://idp.example.com/token' }, {}, 'is not an HTTPS address'],
  ['no address', { tokenEndpoint: 'idp' }, {}, 'is not an HTTPS address'],
])('an identity provider with %s is an error of the entry', async (_, provider, oauth, why) => {
  const { problems } = await vouchedBy({ ...VOUCHED.oauth.identityProvider, ...provider }, oauth);
  expect(problems).toMatchObject([{ text: expect.stringContaining(why) }]);
});

test.each([
  ...[
    'ouro',
    'Ouro',
    'claude',
    'claude-code',
    'system',
    'оuro',
    'ｏｕｒｏ',
    ' ouro ',
    '0uro',
    'our0',
    'c1aude',
    'cIaude',
  ],
  ...[
    'сӏаսԁе',
    'systern',
    '5ystem',
    'anthr0pic',
    'Ouro Security',
    'öuro',
    'o\u200buro',
    'claude_login',
    'ᴏuro',
    'ouro-agent',
    'the.ouro.guard',
    'permissions',
    '𝗼𝘂𝗿𝗼',
  ],
])('a server cannot be called "%s" and ask in the voice of ouro', async (name) => {
  const { servers, problems } = await resolveMcpConfig(
    parts({ layers: [user({ [name]: { command: 'x' } })], folders: [] }),
  );
  expect(servers).toEqual([]);
  expect(problems).toEqual([
    {
      file: '/u/settings.json',
      text: `MCP server "${name}" is ignored: the name could pass for ouro itself. Rename it.`,
    },
  ]);
});

test.each(['ouroboros', 'filesystem', 'claude-docs', 'münchen', 'погода', 'user-db'])(
  'a server may be called "%s"',
  async (name) => {
    const { servers } = await resolveMcpConfig(parts({ layers: [user({ [name]: { command: 'x' } })], folders: [] }));
    expect(servers).toMatchObject([{ name }]);
  },
);
