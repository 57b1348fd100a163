import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { isPathInside, resolvePath } from '../../src/permissions/resolve-path.ts';
import { decideTool, makeFixture, type Setup } from './fixture.ts';

const fixture = makeFixture();
linkSync(join(fixture.ws, 'docs/x.md'), join(fixture.ws, 'docs/hard.md'));

type PathCase = readonly ['allow' | 'ask' | 'deny', 'Read' | 'Edit' | 'Write' | 'Grep' | 'Glob', string, Setup?];

const EDITS: Setup = { mode: 'acceptEdits' };
const SRC: Setup = { allow: ['Edit(src/**)'] };
const DENY: Setup = {
  deny: ['Read(secrets/**)', 'Edit(docs)', 'Read(*.PEM)', 'Read(//etc/**)'],
  mode: 'bypassPermissions',
};

const CASES: readonly PathCase[] = [
  ['allow', 'Read', 'README.md'],
  ['allow', 'Read', './src/../README.md'],
  ['allow', 'Read', 'src'],
  ['allow', 'Read', 'link-in'],
  ['allow', 'Read', 'not/there/yet'],
  ['allow', 'Read', '.env.example'],
  ['allow', 'Read', 'a b.txt'],
  ['allow', 'Read', '.git/config'],
  ['allow', 'Read', '/dev/null'],
  ['ask', 'Read', '..'],
  ['ask', 'Read', '../outside/data'],
  ['ask', 'Read', '../ws-evil/data'],
  ['ask', 'Read', 'link-out'],
  ['ask', 'Read', 'link-dir/data'],
  ['ask', 'Read', 'link-dir/../data'],
  ['ask', 'Read', 'loop-a'],
  ['ask', 'Read', 'nowhere/../README.md'],
  ['ask', 'Read', 'README.md\0.png'],
  ['ask', 'Read', '/'],
  ['ask', 'Read', '/etc/passwd'],
  ['ask', 'Read', '~/.ssh/id_rsa'],
  ['ask', 'Read', '~/x'],
  ['ask', 'Read', '.env'],
  ['ask', 'Read', '.ENV'],
  ['ask', 'Read', '.env.local'],
  ['ask', 'Read', 'certs/server.pem'],
  ['ask', 'Read', 'certs/server.PEM'],
  ['ask', 'Read', 'src/id_rsa'],
  ['ask', 'Read', '.npmrc'],
  ['ask', 'Read', '.netrc'],
  ['ask', 'Read', '/proc/self/environ'],
  ['ask', 'Read', ''],
  ['allow', 'Read', '.env', { allow: ['Read(.env)'] }],
  ['ask', 'Read', '.env', { allow: ['Read(./**)'] }],
  ['ask', 'Read', '.env', { allow: ['Read'] }],
  ['allow', 'Read', '../outside/data', { allow: ['Read(~/outside/**)'] }],
  ['ask', 'Read', 'link-out', { allow: ['Read(link-out)'] }],
  ['allow', 'Read', '/etc/hosts', { allow: ['Read(//etc/hosts)'] }],
  ['ask', 'Write', 'new.txt'],
  ['ask', 'Edit', 'src/a.ts'],
  ['allow', 'Edit', 'src/a.ts', EDITS],
  ['allow', 'Write', 'src/new/deep.ts', EDITS],
  ['allow', 'Write', 'link-in', EDITS],
  ['ask', 'Write', 'link-out', EDITS],
  ['ask', 'Write', 'link-dir/new', EDITS],
  ['ask', 'Write', '../x', EDITS],
  ['ask', 'Write', '.git/config', EDITS],
  ['ask', 'Write', '.GIT/config', EDITS],
  ['ask', 'Write', 'sub/.git/hooks/x', EDITS],
  ['ask', 'Write', 'link-hooks/post-commit', EDITS],
  ['ask', 'Write', '.git', EDITS],
  ['ask', 'Write', '.gitmodules', EDITS],
  ['ask', 'Write', '.mcp.json', EDITS],
  ['ask', 'Write', '.claude/settings.json', EDITS],
  ['ask', 'Write', '.Claude/settings.json', EDITS],
  ['ask', 'Write', '.ouro/settings.json', EDITS],
  ['ask', 'Write', '.vscode/tasks.json', EDITS],
  ['ask', 'Write', '.husky/pre-commit', EDITS],
  ['ask', 'Write', '.envrc', EDITS],
  ['ask', 'Write', 'packages/a/.npmrc', EDITS],
  ['ask', 'Write', '.yarnrc.yml', EDITS],
  ['ask', 'Write', '~/.bashrc', EDITS],
  ['ask', 'Write', '~/.config/x', EDITS],
  ['ask', 'Write', 'docs/hard.md', EDITS],
  ['ask', 'Write', '.git/config', { mode: 'bypassPermissions' }],
  ['ask', 'Write', '.git/config', { allow: ['Edit', 'Edit(.git/**)'] }],
  ['allow', 'Write', '.git/config', { allow: ['Edit(.git/config)'] }],
  ['deny', 'Write', '.git/config', { mode: 'plan' }],
  ['deny', 'Write', 'src/a.ts', { mode: 'plan', allow: ['Edit'] }],
  ['deny', 'Write', 'src/a.ts', { mode: 'dontAsk' }],
  ['allow', 'Write', 'src/a.ts', { mode: 'dontAsk', allow: ['Edit'] }],
  ['allow', 'Write', 'src/a.ts', SRC],
  ['allow', 'Edit', 'src/deep/n.ts', SRC],
  ['ask', 'Edit', 'src/../README.md', SRC],
  ['ask', 'Edit', 'docs/x.md', SRC],
  ['deny', 'Read', 'secrets/key', DENY],
  ['deny', 'Read', 'src/../secrets/key', DENY],
  ['deny', 'Read', 'SECRETS/key', DENY],
  ['deny', 'Read', 'secrets', DENY],
  ['deny', 'Grep', 'secrets', DENY],
  ['deny', 'Glob', 'secrets/deep', DENY],
  ['deny', 'Write', 'docs/new', DENY],
  ['deny', 'Edit', 'docs/x.md', DENY],
  ['deny', 'Edit', 'src/docs/x.md', DENY],
  ['deny', 'Read', 'certs/server.pem', DENY],
  ['deny', 'Read', '/etc/passwd', DENY],
  ['allow', 'Read', 'README.md', DENY],
  ['allow', 'Grep', 'src', DENY],
];

const KEYS = { Read: 'file_path', Edit: 'file_path', Write: 'file_path', Grep: 'path', Glob: 'path' } as const;

test('every path is decided by its real location', () => {
  const wrong = CASES.flatMap(([verdict, tool, path, setup]) => {
    const decision = decideTool(fixture, tool, { [KEYS[tool]]: path }, setup);
    return decision.verdict === verdict
      ? []
      : [
          `${verdict} expected, ${decision.verdict}: ${tool} ${path} ${JSON.stringify(setup ?? {})} ${decision.reasons.join(' ')}`,
        ];
  });
  expect(wrong).toEqual([]);
});

test('a question names the target of a symlink', () => {
  const decision = decideTool(fixture, 'Write', { file_path: 'link-out' });
  expect(decision.targets).toEqual([{ path: join(fixture.ws, 'link-out'), real: join(fixture.outside, 'data') }]);
});

test('containment is compared at a separator', () => {
  expect([
    isPathInside('/a/b', '/a'),
    isPathInside('/a', '/a'),
    isPathInside('/ab', '/a'),
    isPathInside('/a', '/'),
  ]).toEqual([true, true, false, true]);
});

test('symlinks are followed one by one, up to forty', () => {
  const resolve = (path: string) => resolvePath(diskFs, { cwd: fixture.ws, home: fixture.home }, path);
  expect(resolve('link-dir/../ws/README.md').real).toBe(join(fixture.ws, 'README.md'));
  expect(resolve('loop-a').problem).toBe('It follows too many links.');
  expect(resolve('gone/tail')).toMatchObject({ real: join(fixture.ws, 'gone/tail'), kind: 'missing' });
});

test('Unicode forms of a name are equal, also on disks that distinguish them', () => {
  const deny: Setup = { deny: ['Read(caf\u00e9/**)', 'Edit(STRASSE/**)'], mode: 'bypassPermissions' };
  const verdict = (tool: 'Read' | 'Write', path: string) =>
    decideTool(fixture, tool, { file_path: path }, deny).verdict;
  expect([verdict('Read', 'cafe\u0301/x'), verdict('Read', 'CAF\u00c9/x'), verdict('Read', 'cafe/x')]).toEqual([
    'deny',
    'deny',
    'allow',
  ]);
  expect([verdict('Write', 'strasse/x'), verdict('Write', '.g\u0131t/x')]).toEqual(['deny', 'allow']);
});

test('an unreadable disk asks', () => {
  const broken = {
    ...diskFs,
    lstat: () => {
      throw new Error('EACCES');
    },
  };
  expect(resolvePath(broken, { cwd: fixture.ws, home: fixture.home }, 'a').problem).toContain('EACCES');
});
