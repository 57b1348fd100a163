import { expect, test } from 'vitest';
import { parseLanguageServers } from '../../../src/extensions/plugins/parse-language-servers.ts';

const KIT = { name: 'kit', variables: { CLAUDE_PLUGIN_ROOT: '/kit', CLAUDE_PLUGIN_DATA: '/data' } };

test('an entry gets defaults, extensions with and without a dot, and a string as a list', () => {
  const { servers, problems } = parseLanguageServers(
    {
      go: { command: 'gopls', extensionToLanguage: { '.go': 'go', Mod: 'go.mod' } },
      ts: {
        command: ['tsls', '--stdio'],
        args: ['-v'],
        extensionToLanguage: { '.d.ts': 'typescript' },
        restartOnCrash: false,
        diagnostics: false,
        loggingConfig: {},
      },
    },
    KIT,
  );
  expect(problems).toEqual([]);
  expect(servers).toMatchObject([
    {
      name: 'kit:go',
      command: 'gopls',
      args: [],
      env: { CLAUDE_PLUGIN_ROOT: '/kit', CLAUDE_PLUGIN_DATA: '/data' },
      languages: { '.go': 'go', '.mod': 'go.mod' },
      maxRestarts: 3,
    },
    { name: 'kit:ts', command: 'tsls', args: ['--stdio', '-v'], maxRestarts: 0, reportsDiagnostics: false },
  ]);
});

test.each([
  [{ extensionToLanguage: { '.a': 'a' } }, 'command'],
  [{ command: [], extensionToLanguage: { '.a': 'a' } }, 'command'],
  [{ command: 'x' }, 'extensionToLanguage'],
  [{ command: 'x', extensionToLanguage: {} }, 'extensionToLanguage'],
  [{ command: 'x', extensionToLanguage: { '../a': 'a' } }, 'extensionToLanguage'],
  [{ command: 'x', extensionToLanguage: { '.a': 'a' }, transport: 'socket' }, 'transport'],
  ['x', 'a'],
])('%j is skipped with a message about %s', (entry, place) => {
  const { servers, problems } = parseLanguageServers({ a: entry }, KIT);
  expect(servers).toEqual([]);
  expect(problems).toEqual([
    expect.stringMatching(new RegExp(`"lspServers\\..*${place}.*This language server is ignored`)),
  ]);
});

test('an unknown field is reported and changes nothing', () => {
  const entry = { command: 'x', extensionToLanguage: { '.a': 'a' }, fileExtensions: ['.a'] };
  expect(parseLanguageServers({ a: entry }, KIT)).toMatchObject({
    servers: [{ command: 'x' }],
    problems: ['"lspServers.a.fileExtensions" is unknown and ignored.'],
  });
});
