import { expect, test } from 'vitest';
import { readLanguageServers } from '../../../src/extensions/plugins/read-language-servers.ts';

const KIT = { name: 'kit', variables: { CLAUDE_PLUGIN_ROOT: '/kit', CLAUDE_PLUGIN_DATA: '/data' } };

test('an entry is read with what it leaves out, endings with and without a dot, and a line as a list', () => {
  const { servers, problems } = readLanguageServers(
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
      mostRestarts: 3,
    },
    { name: 'kit:ts', command: 'tsls', args: ['--stdio', '-v'], mostRestarts: 0, tellsProblems: false },
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
])('%j is left out with a sentence about %s', (entry, place) => {
  const { servers, problems } = readLanguageServers({ a: entry }, KIT);
  expect(servers).toEqual([]);
  expect(problems).toEqual([
    expect.stringMatching(new RegExp(`"lspServers\\..*${place}.*This language server is not used`)),
  ]);
});

test('a field nobody knows is told and changes nothing', () => {
  const entry = { command: 'x', extensionToLanguage: { '.a': 'a' }, fileExtensions: ['.a'] };
  expect(readLanguageServers({ a: entry }, KIT)).toMatchObject({
    servers: [{ command: 'x' }],
    problems: ['"lspServers.a.fileExtensions" is not known here and changes nothing.'],
  });
});
