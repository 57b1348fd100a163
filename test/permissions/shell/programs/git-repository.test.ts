import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { readGitSnapshot } from '../../../../src/git/git-repository.ts';
import { createHardenedGitEnv } from '../../../../src/git/run-git.ts';
import { isReadingGitSafe } from '../../../../src/permissions/git-safety.ts';
import { runs } from '../../../support/runs.ts';
import { createTempFolder } from '../../../support/temp-folder.ts';
import { decideBash } from '../../fixture.ts';

const home = createTempFolder();
const ws = join(home, 'ws');
const config = join(ws, '.git/config');
const trap = join(home, 'sprung');
/** Leaves a mark when it is run; in `hooks` under the names that git looks for. A shell finds it wherever `home` is. */
const evil = 'evil-program';
const ENV = { PATH: `${home}/hooks:/usr/bin:/bin`, LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1', HOME: home };
const fixture = { home, ws, outside: home };

function git(...args: readonly string[]): void {
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { cwd: ws, env: ENV });
}

mkdirSync(join(home, 'hooks'));
mkdirSync(ws);
for (const name of [evil, 'post-index-change', 'pre-commit']) {
  writeFileSync(join(home, 'hooks', name), `#!/bin/sh\necho sprung >> '${trap}'\n`);
  chmodSync(join(home, 'hooks', name), 0o755);
}
git('init', '-q');
writeFileSync(join(ws, 'a.txt'), 'one\n');
writeFileSync(join(ws, '.gitattributes'), '*.txt filter=evil diff=evil merge=evil\n');
git('add', '-A');
git('commit', '-q', '-m', 'Start');
writeFileSync(join(ws, 'a.txt'), 'two two\n');
const PLAIN = readFileSync(config, 'utf8');

afterEach(() => {
  writeFileSync(config, PLAIN);
  rmSync(trap, { force: true });
});

const LOOKING = ['git status', 'git diff', 'git log -p -1', 'git diff --stat HEAD'];

/** Was anything run that the repository names, by git as the program runs it unasked or by a look of its own? */
async function springs(text: string): Promise<boolean> {
  writeFileSync(config, `${PLAIN}${text}`);
  for (const command of LOOKING) {
    if (decideBash(fixture, command).verdict !== 'allow') continue;
    spawnSync('/bin/bash', ['--norc', '-c', command], { cwd: ws, env: { ...ENV, ...createHardenedGitEnv() } });
  }
  await readGitSnapshot(ws, ENV, () => isReadingGitSafe(ws));
  return existsSync(trap);
}

const DECOYS = [
  '# note \\',
  '; note "\\',
  '[a]\nk = v\\\\',
  '[a]\nk = "v\\\\" # \\',
  '[a]\nk = v ; \\\\\\',
  '[a "#\\"]"]',
  '[a]\nk = "# \\" ;"',
  '[a]\nk = \\"\\',
  '[a]\nk',
  '\r',
  '',
];
const KEYS: readonly (readonly [string, string | undefined, string, string])[] = [
  ['diff', undefined, 'external', evil],
  ['diff', 'evil', 'textconv', evil],
  ['diff', 'evil', 'command', evil],
  ['filter', 'evil', 'clean', evil],
  ['filter', 'evil', 'smudge', evil],
  ['filter', 'evil', 'process', evil],
  ['core', undefined, 'fsmonitor', evil],
  ['core', undefined, 'hooksPath', join(home, 'hooks')],
  ['core', undefined, 'pager', evil],
  ['pager', undefined, 'diff', evil],
  ['alias', undefined, 'status', `!${evil}`],
  ['include', undefined, 'path', join(home, 'included')],
  ['includeIf', 'gitdir:/', 'path', join(home, 'included')],
];
writeFileSync(join(home, 'included'), `[diff]external=${evil}\n[core]fsmonitor=${evil}\n`);

const anyHidden = fc
  .record({
    decoys: fc.array(fc.constantFrom(...DECOYS), { maxLength: 3 }),
    key: fc.constantFrom(...KEYS),
    header: fc.constantFrom(
      (section: string, sub: string) => `[${section}${sub === '' ? '' : ` "${sub}"`}]`,
      (section: string, sub: string) => `\t[${section.toUpperCase()}${sub === '' ? '' : ` \t"\\${sub}"`}] `,
      (section: string, sub: string) => `[${section}${sub === '' ? '' : `.${sub}`}] # \\\n`,
      (section: string, sub: string) => `[${section}${sub === '' ? '' : ` "${sub}"`}] k = v ; \\\n`,
      (section: string, sub: string) => `# [a] \\\n[${section}${sub === '' ? '' : ` "${sub}"`}]\n`,
      (section: string, sub: string) => `[a]\nk = \\\n[${section}${sub === '' ? '' : ` "${sub}"`}]\n`,
    ),
    name: fc.constantFrom(
      (name: string) => name,
      (name: string) => name.toUpperCase(),
      (name: string) => `\r\n \t${name}\t`,
      (name: string) => `;\\\n${name}`,
    ),
    value: fc.constantFrom(
      (value: string) => ` = ${value}`,
      (value: string) => `="${value}"`,
      (value: string) => `="${value}" ; \\`,
      (value: string) => `=${value.slice(0, 5)}\\\n${value.slice(5)}`,
      (value: string) => `= "${value.slice(0, 5)}"${value.slice(5)}# "`,
    ),
    end: fc.constantFrom('\n', '\r\n', '', '\\\n'),
  })
  .map(({ decoys, key: [section, sub, name, value], ...spell }) =>
    [...decoys, `${spell.header(section, sub ?? '')}${spell.name(name)}${spell.value(value)}${spell.end}`].join('\n'),
  );

test('a program configured in any notation is not run unasked', async () => {
  await fc.assert(
    fc.asyncProperty(anyHidden, async (text) => {
      expect(await springs(text)).toBe(false);
    }),
    runs(60),
  );
});

test.each([
  ['a comment that ends in a backslash', `# note \\\n[diff]\nexternal = ${evil}\n`],
  ['a comment behind a value', `[a]\nk = v ; \\\n[diff]\nexternal = ${evil}\n`],
  ['an escaped backslash', `[a]\nk = v\\\\\n[filter "evil"]\nclean = ${evil}\n`],
  ['a value that goes on with a header', `[a]\nk = \\\n[b]\n[diff "evil"] textconv = ${evil}\n`],
  ['a subsection with a sign of a comment', `[a "#\\"]"]\n[core]fsmonitor="${evil}"`],
])('%s hides nothing: git would run it, so it asks', async (_, text) => {
  writeFileSync(config, `${PLAIN}${text}`);
  spawnSync('git', ['diff'], { cwd: ws, env: ENV });
  expect(existsSync(trap)).toBe(true);
  rmSync(trap);
  expect(LOOKING.map((command) => decideBash(fixture, command).verdict)).toEqual(LOOKING.map(() => 'ask'));
  expect(await springs(text)).toBe(false);
});

test('harmless lines that look similar do not ask', () => {
  writeFileSync(config, `${PLAIN}# [diff] \\\n[a]\nk = "[diff]" ; external = x \\\n[branch "filter"]\nremote = o\n`);
  expect(decideBash(fixture, 'git diff').verdict).toBe('allow');
});

test.each([
  ['lines that git refuses', `${PLAIN}[a`],
  ['a NUL byte', `${PLAIN}[a]k=v\0`],
  ['a merge that a log makes again', `${PLAIN}[log]diffMerges=remerge\n`],
  ['a driver of merges', `${PLAIN}[merge "evil"]driver=x\n`],
  ['an extension of a filter of the person', `${PLAIN}[lfs "extension.evil"]clean=x\n`],
  ['a format that checks signatures', `${PLAIN}[format]pretty=format:%G?\n`],
])('%s ask', (_, text) => {
  writeFileSync(config, text);
  expect(decideBash(fixture, 'git log -1').verdict).toBe('ask');
});

test('a linked configuration, and a folder that git may skip, ask', () => {
  const verdict = () => decideBash(fixture, 'git status').verdict;
  renameSync(config, `${config}.real`);
  expect(verdict()).toBe('ask');
  symlinkSync(`${config}.real`, config);
  expect(verdict()).toBe('ask');
  rmSync(config);
  renameSync(`${config}.real`, config);
  expect(verdict()).toBe('allow');
  const head = join(ws, '.git/HEAD');
  const text = readFileSync(head);
  writeFileSync(head, 'nothing\n');
  expect(verdict()).toBe('ask');
  writeFileSync(head, text);
});

test('a repository above the one in use configures no programs either', () => {
  const outer = join(home, '.git');
  mkdirSync(join(outer, 'refs'), { recursive: true });
  mkdirSync(join(outer, 'objects'));
  writeFileSync(join(outer, 'HEAD'), 'ref: refs/heads/main\n');
  const verdictWith = (text: string) => {
    writeFileSync(join(outer, 'config'), text);
    return decideBash(fixture, 'git status').verdict;
  };
  const verdicts = ['[core]bare=false\n', `[core]fsmonitor=${evil}\n`].map(verdictWith);
  rmSync(outer, { recursive: true });
  expect(verdicts).toEqual(['allow', 'ask']);
});
