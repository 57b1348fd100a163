import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { restrained } from '../../src/settings/merge.ts';
import { readLayer } from '../../src/settings/read-layer.ts';
import { usableHooks } from '../../src/settings/usable.ts';

test('a full settings file of Claude Code is told of in one line, and what has a meaning here counts', async () => {
  const file = 'test/fixtures/claude/settings.json';
  const { layer, problems } = readLayer(await readFile(file, 'utf8'), file, 'user');
  expect(problems.slice(0, -1)).toEqual([]);
  expect(problems[0]?.text).toMatch(
    /^has \d+ keys that ouro does not use: .+ and \d+ more \("ouro settings explain" lists them\)\.$/,
  );
  expect(problems[0]?.unused).toEqual(
    expect.arrayContaining([
      'permissions.disableAutoMode',
      'sandbox.network.httpProxyPort',
      'spinnerVerbs',
      'worktree',
    ]),
  );
  expect(layer.settings).toMatchObject({
    model: 'opusplan',
    effort: 'high',
    fallbackModels: ['sonnet'],
    reducedMotion: true,
    progress: false,
    permissions: { deny: ['Read(./.env)', 'WebFetch'], additionalDirectories: ['../docs'] },
    sandbox: {
      enabled: false,
      autoAllow: true,
      allowWrite: ['/tmp/build'],
      denyRead: ['~/.aws/credentials'],
      allowedDomains: ['github.com'],
      allowLocalBinding: true,
    },
    hooks: { Stop: [{ hooks: [{ type: 'prompt' }] }] },
  });
  expect(Object.keys(layer.settings.hooks ?? {})).toEqual([
    'PreToolUse',
    'PostToolUse',
    'Stop',
    'Setup',
    'FileChanged',
    'MessageDisplay',
  ]);
});

test('one key that nobody knows is told with its line, one that is like ours with what was meant', () => {
  const { problems } = readLayer('{\n  "spinnerVerbs": {},\n  "modle": "opus"\n}', 'x.json', 'user');
  expect(problems.map(({ line, text }) => [line, text])).toEqual([
    [3, 'has an unknown key "modle". Did you mean "model"?'],
    [2, 'has an unknown key "spinnerVerbs".'],
  ]);
});

test('the same file in a project is told of in one line more, whatever a project may not say', async () => {
  const file = 'test/fixtures/claude/settings.json';
  const { layer } = readLayer(await readFile(file, 'utf8'), file, 'project');
  const { problems, layer: rest } = restrained(layer);
  expect(problems.map(({ text }) => text)).toEqual([
    expect.stringMatching(
      /^sets "permissions.defaultMode".+; "sandbox", and a project may not loosen the sandbox; "env\..+", which could make .+; ".+", which only your own or managed settings may do\. That is ignored\.$/,
    ),
  ]);
  expect(rest.settings.cleanupPeriodDays).toBeUndefined();
  const one = restrained({ ...layer, settings: { cleanupPeriodDays: 3 } });
  expect(one.problems.map(({ text }) => text)).toEqual([
    'sets "cleanupPeriodDays", which only your own or managed settings may do. It is ignored.',
  ]);
});

test('hooks that people describe are hooks like others', () => {
  const group = {
    matcher: 'Bash',
    description: 'Looks',
    hooks: [{ type: 'command', command: 'true', description: 'x' }],
  };
  const { layer, problems } = readLayer(JSON.stringify({ hooks: { PreToolUse: [group] } }), 'f', 'user');
  expect(layer.settings.hooks).toEqual({
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }],
  });
  expect(problems).toHaveLength(1);
  expect(usableHooks({ PreToolUse: [group] })).toEqual({ hooks: layer.settings.hooks, problems: [] });
});
