import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { validateHooks } from '../../src/settings/drop-invalid-settings.ts';
import { parseSettingsLayer } from '../../src/settings/parse-settings-layer.ts';
import { restrictProjectLayer } from '../../src/settings/restrict-project-layer.ts';

test('a full settings file of Claude Code gives one notice, and supported keys apply', async () => {
  const file = 'test/fixtures/claude/settings.json';
  const { layer, problems } = parseSettingsLayer(await readFile(file, 'utf8'), file, 'user');
  expect(problems.slice(0, -1)).toEqual([]);
  expect(problems[0]?.text).toMatch(
    /^has \d+ keys that ouro does not use: .+ and \d+ more \("ouro settings explain" lists them\)\.$/,
  );
  expect(problems[0]?.unknownKeys).toEqual(
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

test('an unknown key is reported with its line, a misspelt one with a suggestion', () => {
  const { problems } = parseSettingsLayer('{\n  "spinnerVerbs": {},\n  "modle": "opus"\n}', 'x.json', 'user');
  expect(problems.map(({ line, text }) => [line, text])).toEqual([
    [3, 'has an unknown key "modle". Did you mean "model"?'],
    [2, 'has an unknown key "spinnerVerbs".'],
  ]);
});

test('the same file in a project gives one more notice about keys a project may not set', async () => {
  const file = 'test/fixtures/claude/settings.json';
  const { layer } = parseSettingsLayer(await readFile(file, 'utf8'), file, 'project');
  const { problems, layer: rest } = restrictProjectLayer(layer);
  expect(problems.map(({ text }) => text)).toEqual([
    expect.stringMatching(
      /^sets keys that are ignored: "permissions.defaultMode" .+; "sandbox" \(a project may not loosen the sandbox\); "env\..+" \(.+ "projectVariables" .+\); ".+" \(only user and managed settings may set it\)\.$/,
    ),
  ]);
  expect(rest.settings.cleanupPeriodDays).toBeUndefined();
  const one = restrictProjectLayer({ ...layer, settings: { cleanupPeriodDays: 3 } });
  expect(one.problems.map(({ text }) => text)).toEqual([
    'sets a key that is ignored: "cleanupPeriodDays" (only user and managed settings may set it).',
  ]);
});

test('hooks with a description work', () => {
  const group = {
    matcher: 'Bash',
    description: 'Looks',
    hooks: [{ type: 'command', command: 'true', description: 'x' }],
  };
  const { layer, problems } = parseSettingsLayer(JSON.stringify({ hooks: { PreToolUse: [group] } }), 'f', 'user');
  expect(layer.settings.hooks).toEqual({
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }],
  });
  expect(problems).toHaveLength(1);
  expect(validateHooks({ PreToolUse: [group] })).toEqual({ hooks: layer.settings.hooks, problems: [] });
});
