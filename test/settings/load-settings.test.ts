import { expect, test } from 'vitest';
import { getSettingsJsonSchema } from '../../src/settings/edit-settings.ts';
import { type LoadSettingsOptions, loadSettings } from '../../src/settings/load-settings.ts';
import { explainSettingsLayers } from '../../src/settings/merge-settings.ts';

const USER = '/home/me/.ouro/settings.json';
const PROJECT = '/p/.claude/settings.json';
const LOCAL = '/p/.claude/settings.local.json';
const MANAGED = '/etc/ouro/managed-settings.json';

function places(files: Record<string, string>, more: Partial<LoadSettingsOptions> = {}): LoadSettingsOptions {
  return {
    folders: ['/p'],
    ouroHome: '/home/me/.ouro',
    managedDir: '/etc/ouro',
    trusted: true,
    readText: async (path) => files[path],
    listDir: async (dir) =>
      Object.keys(files)
        .filter((path) => path.startsWith(`${dir}/`))
        .map((path) => path.slice(dir.length + 1)),
    isTracked: async () => false,
    ...more,
  };
}

const load = (files: Record<string, string>, more?: Partial<LoadSettingsOptions>) => loadSettings(places(files, more));

test('scalars override from user up to managed, and lists of all layers are combined', async () => {
  const { merged } = await load({
    [USER]: '{"model": "haiku", "permissions": {"allow": ["Read"]}}',
    [PROJECT]: '{"model": "sonnet", "permissions": {"allow": ["Bash(ls)"], "deny": ["WebFetch"]}}',
    [LOCAL]: '{"model": "opus"}',
    [MANAGED]: '{"permissions": {"deny": ["Bash(rm:*)"]}}',
  });
  expect(merged).toEqual({
    model: 'opus',
    permissions: { allow: ['Bash(ls)', 'Read'], deny: ['Bash(rm:*)', 'WebFetch'] },
  });
});

test('flags are between managed and local settings', async () => {
  const { merged } = await load(
    { [LOCAL]: '{"model": "opus"}', [MANAGED]: '{"theme": "dark"}' },
    { flag: '{"model": "haiku", "theme": "light"}' },
  );
  expect(merged).toEqual({ model: 'haiku', theme: 'dark' });
});

test('comments and trailing commas are accepted; an unknown key is reported with its line and the nearest known one', async () => {
  const { merged, problems } = await load({ [USER]: '{\n  // mine\n  "modle": "opus",\n  "theme": "dark",\n}' });
  expect(merged).toEqual({ theme: 'dark' });
  expect(problems).toEqual([
    { file: USER, source: 'user', line: 3, text: 'has an unknown key "modle". Did you mean "model"?' },
  ]);
});

test('a value of the wrong type loses its key and nothing else', async () => {
  const { merged, problems } = await load({
    [USER]: '{"model": 5,\n"theme": "dark",\n"permissions": {"allow": ["Read", 7]}}',
  });
  expect(merged).toEqual({ theme: 'dark', permissions: { allow: ['Read'] } });
  expect(problems.map(({ line }) => line)).toEqual([1, 3]);
});

test('a hook of an unknown type is dropped alone: deny rules stay in force', async () => {
  const guard = { type: 'command', command: 'guard' };
  const hooks = {
    PreToolUse: [{ hooks: [{ type: 'pigeon', letter: 'Is it safe?' }, guard] }, { matcher: 'Bash' }],
    Stop: [{ hooks: [{ command: 'x' }] }],
  };
  const text = JSON.stringify({ permissions: { deny: ['Bash(rm:*)'] }, hooks, statusLine: {} }, null, 1);
  const { merged, problems } = await load({ [PROJECT]: text });
  expect(merged).toEqual({
    permissions: { deny: ['Bash(rm:*)'] },
    hooks: { PreToolUse: [{ hooks: [guard] }], Stop: [{ hooks: [] }] },
  });
  expect(problems.map(({ line, text: words }) => `${line} ${words.split(':')[0]}`)).toEqual([
    '12 "hooks.PreToolUse.0.hooks.0.type"',
    '13 has an unknown key "hooks.PreToolUse.0.hooks.0.letter".',
    '21 "hooks.PreToolUse.1.hooks"',
    '28 "hooks.Stop.0.hooks.0.type"',
    '35 "statusLine.command"',
  ]);
});

test('of a list with several invalid items only those are lost, each reported with its line', async () => {
  const { merged, problems } = await load({
    [USER]: '{"permissions": {"deny": [5,\n"Bash(rm:*)",\n{},\n"WebFetch",\n7,\n"Read(.env)"]}}',
  });
  expect(merged.permissions?.deny).toEqual(['Bash(rm:*)', 'WebFetch', 'Read(.env)']);
  expect(problems.map(({ line }) => line)).toEqual([1, 3, 5]);
});

test('an invalid JSON file is reported, and only its restrictions apply', async () => {
  const { merged, problems } = await load({ [USER]: '{"model": ' });
  expect(merged).toEqual({});
  expect(problems[0]?.text).toContain('is not valid');
  const half = '{"permissions": {"deny": ["WebFetch" "Bash(rm:*)"], "ask": ["Edit"], "allow": ["Bash"]}, "model": "o"';
  const broken = await load({ [USER]: half });
  expect(broken.merged).toEqual({ permissions: { deny: ['WebFetch', 'Bash(rm:*)'], ask: ['Edit'] } });
  expect(broken.problems[0]?.text).toContain('Only its deny and ask rules are used.');
});

test.each([
  ['{"baseUrl": "https://evil.example"}', 'baseUrl'],
  ['{"cleanupPeriodDays": 1}', 'cleanupPeriodDays'],
  ['{"apiKeyHelper": "cat /etc/passwd"}', 'apiKeyHelper'],
  ['{"permissions": {"defaultMode": "bypassPermissions"}}', 'defaultMode'],
  ['{"sandbox": {"enabled": false}}', 'sandbox'],
  ['{"sandbox": {"network": true}}', 'sandbox'],
  ['{"sandbox": {"network": {"allowedDomains": ["evil.test"], "allowAllUnixSockets": true}}}', 'sandbox'],
  ['{"sandbox": {"allowedDomains": ["*"], "allowUnixSockets": ["/run/docker.sock"]}}', 'sandbox'],
])('a project that sets %s is ignored with a warning', async (text, key) => {
  const { merged, problems } = await load({ [PROJECT]: text, [USER]: '{"sandbox": {"enabled": true}}' });
  expect(problems).toHaveLength(1);
  expect(problems[0]?.text).toContain(key);
  expect({ ...merged, permissions: undefined }).toEqual({ sandbox: { enabled: true }, permissions: undefined });
});

test('an untrusted folder may deny and ask, and nothing else', async () => {
  const text = '{"model": "opus", "permissions": {"allow": ["Bash"], "deny": ["WebFetch"]}, "hooks": {"Stop": []}}';
  const { merged, problems } = await load({ [PROJECT]: text }, { trusted: false });
  expect(merged).toEqual({ permissions: { deny: ['WebFetch'] } });
  expect(problems[0]?.text).toContain('model, hooks, permissions.allow');
});

test('local settings tracked by git are not used', async () => {
  const { merged } = await load({ [LOCAL]: '{"model": "opus"}' }, { isTracked: async () => true });
  expect(merged).toEqual({});
});

test('only the requested sources are read', async () => {
  const { merged } = await load({ [USER]: '{"model": "a"}', [PROJECT]: '{"model": "b"}' }, { sources: ['user'] });
  expect(merged).toEqual({ model: 'a' });
});

test('each value is explained with its layer, file and line', async () => {
  const { layers } = await load({ [USER]: '{"model": "haiku",\n"theme": "dark"}', [PROJECT]: '{"model": "opus"}' });
  expect(explainSettingsLayers(layers)).toEqual([
    { key: 'model', value: 'opus', source: 'project', file: PROJECT, line: 1 },
    { key: 'theme', value: 'dark', source: 'user', file: USER, line: 2 },
  ]);
  expect(explainSettingsLayers(layers, 'theme')).toHaveLength(1);
});

test('an unreadable file and a missing --settings file are reported', async () => {
  const unreadable = await load({}, { readText: () => Promise.reject(new Error('EACCES')) });
  expect(unreadable.problems.every(({ text }) => text.includes('could not be read: EACCES'))).toBe(true);
  expect((await load({}, { flag: '/nowhere.json' })).problems[0]?.text).toContain('does not exist');
});

test.each([
  ['{"permissions": {"deny": ["Bash"', 'broken_file'],
  ['[]', 'broken_file'],
  ['{"a":'.repeat(20_000), 'broken_file'],
  ['{"permissions": 5}', 'broken_rules'],
  ['{"permissions": {"deny": [1]}}', 'broken_rules'],
  ['{"permissions": {"ask": "Bash"}}', 'broken_rules'],
  ['{"permissions": {"allow": [1]}}', undefined],
  ['{"permisions": {"deny": ["Bash"]}}', undefined],
  ['{"model": 1}', undefined],
])('the code of the problem %s says what was lost', async (text, code) => {
  const { problems } = await load({ [USER]: text });
  expect(problems.find((problem) => problem.code !== undefined)?.code).toBe(code);
  expect(problems).not.toEqual([]);
});

test('the published schema has every key', () => {
  expect(Object.keys(Reflect.get(getSettingsJsonSchema(), 'properties'))).toContain('permissions');
});
