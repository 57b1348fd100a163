import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { appendMemoryLine, listMemoryTargets } from '../../../src/app/commands/memory-command.ts';
import type { MemoryDeps } from '../../../src/prompt/memory/load-memory.ts';
import { createSessionMemory } from '../../../src/prompt/memory/session-memory-files.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let base: string;
let root: string;

beforeEach(async () => {
  base = createTempFolder();
  root = join(base, 'project');
  await mkdir(root);
});

async function put(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await writeFile(join(base, path), content);
  }
}

const memory = (over: Partial<MemoryDeps> = {}) =>
  createSessionMemory({
    cwd: () => root,
    root,
    home: join(base, 'home'),
    globalFiles: [
      { path: join(base, 'etc/CLAUDE.md'), scope: 'managed' },
      { path: join(base, 'home/.ouro/CLAUDE.md'), scope: 'user' },
    ],
    isTrusted: () => true,
    mayRead: () => ({ ok: true }),
    ...over,
  });

const short = (path: string) => path.slice(base.length + 1);

test('files are found from the organization down to the working directory, rules last', async () => {
  await put({
    'etc/CLAUDE.md': 'managed',
    'home/.ouro/CLAUDE.md': 'user',
    'CLAUDE.md': 'above the project: never read',
    'project/CLAUDE.md': 'root claude',
    'project/AGENTS.md': 'root agents',
    'project/.claude/CLAUDE.md': 'root dot claude',
    'project/CLAUDE.local.md': 'root local',
    'project/packages/a/AGENTS.md': 'a agents',
    'project/packages/a/deep/CLAUDE.md': 'deeper: not yet',
    'project/.claude/rules/b.md': 'rule b',
    'project/.claude/rules/a/nested.md': 'rule nested',
  });
  const files = await memory({ cwd: () => join(root, 'packages/a') }).load();
  expect(files.map((file) => [short(file.path), file.scope, file.text])).toEqual([
    ['etc/CLAUDE.md', 'managed', 'managed'],
    ['home/.ouro/CLAUDE.md', 'user', 'user'],
    ['project/CLAUDE.md', 'project', 'root claude'],
    ['project/AGENTS.md', 'project', 'root agents'],
    ['project/.claude/CLAUDE.md', 'project', 'root dot claude'],
    ['project/CLAUDE.local.md', 'local', 'root local'],
    ['project/packages/a/AGENTS.md', 'project', 'a agents'],
    ['project/.claude/rules/a/nested.md', 'rule', 'rule nested'],
    ['project/.claude/rules/b.md', 'rule', 'rule b'],
  ]);
});

test('a directory with both file names loads each once: identical, linked, or one importing the other', async () => {
  await put({ 'project/CLAUDE.md': 'same words', 'project/AGENTS.md': 'same words' });
  expect((await memory().load()).map((file) => short(file.path))).toEqual(['project/CLAUDE.md']);
  await rm(join(root, 'AGENTS.md'));
  await symlink('CLAUDE.md', join(root, 'AGENTS.md'));
  expect((await memory().load()).map((file) => short(file.path))).toEqual(['project/CLAUDE.md']);
  await rm(join(root, 'AGENTS.md'));
  await put({ 'project/CLAUDE.md': 'See @AGENTS.md.', 'project/AGENTS.md': 'the agents' });
  const files = await memory().load();
  expect(files.map((file) => [short(file.path), file.importedBy === undefined])).toEqual([
    ['project/CLAUDE.md', true],
    ['project/AGENTS.md', false],
  ]);
});

test('imports are five levels deep, not from code, and cycles are cut', async () => {
  await put({
    'project/CLAUDE.md':
      'Start @docs/1.md, not `@docs/inline.md`\n```sh\ncat @docs/fenced.md\n```\nmail me@example.com, ask @someone',
    'project/docs/inline.md': 'inline',
    'project/docs/fenced.md': 'fenced',
    'project/docs/1.md': 'one @2.md',
    'project/docs/2.md': 'two @./3.md @1.md @../CLAUDE.md',
    'project/docs/3.md': 'three @4.md',
    'project/docs/4.md': 'four @5.md',
    'project/docs/5.md': 'five @6.md',
    'project/docs/6.md': 'six',
  });
  const own = memory();
  expect((await own.load()).map((file) => file.text.split(' ')[0])).toEqual([
    'Start',
    'one',
    'two',
    'three',
    'four',
    'five',
  ]);
  expect(own.report().problems).toEqual([
    `${join(root, 'docs/5.md')} imports 6.md more than 5 levels deep; it is ignored`,
  ]);
});

test('a backslash keeps a blank in the path of an import', async () => {
  await put({
    'project/CLAUDE.md': 'See @our\\ notes/to\\ do.md and @our.md notes.',
    'project/our notes/to do.md': 'Buy willow.',
    'project/our.md': 'Ours.',
  });
  expect((await memory().load()).map((file) => file.text)).toEqual([
    'See @our\\ notes/to\\ do.md and @our.md notes.',
    'Buy willow.',
    'Ours.',
  ]);
});

test('HTML comments are dropped, but not inside code', async () => {
  await put({
    'project/CLAUDE.md': 'a<!-- @x.md\n```\nhidden --> b `<!-- kept -->`\n```html\n<!-- kept too -->\n```\nc',
  });
  const [file] = await memory().load();
  expect(file?.text).toBe('a b `<!-- kept -->`\n```html\n<!-- kept too -->\n```\nc');
});

test('no file of an untrusted folder is read, now or later, and existing ones are reported', async () => {
  await put({
    'home/.ouro/CLAUDE.md': 'mine @~/mine.md',
    'home/mine.md': 'also mine',
    'project/CLAUDE.md': 'theirs @inside.md',
    'project/inside.md': 'inside',
    'project/CLAUDE.local.md': 'local',
    'project/.claude/rules/a.md': 'rule',
    'project/pkg/CLAUDE.md': 'nested',
  });
  const careful = memory({ isTrusted: () => false });
  expect((await careful.load()).map((file) => file.text)).toEqual(['mine @~/mine.md', 'also mine']);
  expect(await careful.touch(['pkg/a.ts'])).toEqual([]);
  await careful.acceptEdit({ path: join(root, 'CLAUDE.md'), scope: 'project' });
  await utimes(join(root, 'CLAUDE.md'), 1, 1);
  expect(await careful.changed()).toEqual([]);
  const unread = ['project/CLAUDE.md', 'project/CLAUDE.local.md', 'project/.claude/rules/a.md'];
  expect((await careful.listUnread()).map(short)).toEqual(unread);
  expect(careful.report().problems).toHaveLength(3);
  expect(await memory().listUnread()).toEqual([]);
});

test('a file that may not be read is replaced by the reason, wherever a link or an import leads', async () => {
  await put({
    'project/CLAUDE.md': 'See @a.md and @link.md.',
    'project/a.md': 'after @deep.md',
    'project/deep.md': 'hidden',
    'secret.md': 'hidden too',
  });
  await symlink(join(base, 'secret.md'), join(root, 'link.md'));
  const asked: string[] = [];
  const gated = memory({
    mayRead: ({ realPath, importedBy }) => {
      asked.push(`${short(realPath)} by ${importedBy === undefined ? 'itself' : short(importedBy)}`);
      return /deep|secret/.test(realPath) ? { ok: false, problem: 'Because.' } : { ok: true };
    },
  });
  const files = (await gated.load()).map((file) => [short(file.path), file.excludedReason ?? file.text]);
  expect(files).toEqual([
    ['project/CLAUDE.md', 'See @a.md and @link.md.'],
    ['project/a.md', 'after @deep.md'],
    ['project/deep.md', 'Because.'],
    ['project/link.md', 'Because.'],
  ]);
  expect(asked).toEqual([
    'project/CLAUDE.md by itself',
    'project/a.md by project/CLAUDE.md',
    'project/deep.md by project/a.md',
    'secret.md by project/CLAUDE.md',
  ]);
  expect(await gated.changed()).toEqual([]);
});

test('a file that became a link to a denied one is not read again', async () => {
  await put({ 'project/CLAUDE.md': 'before', 'secret.md': 'hidden' });
  const gated = memory({
    mayRead: ({ realPath }) => (realPath.endsWith('secret.md') ? { ok: false, problem: 'Because.' } : { ok: true }),
  });
  await gated.load();
  await rm(join(root, 'CLAUDE.md'));
  await symlink(join(base, 'secret.md'), join(root, 'CLAUDE.md'));
  await utimes(join(base, 'secret.md'), 1, 1);
  expect((await gated.changed()).map(({ text, excludedReason }) => [text, excludedReason])).toEqual([['', 'Because.']]);
});

test('huge, binary, unreadable and irregular files are reported, and the rest is used', async () => {
  await put({
    'project/CLAUDE.md': `${'é'.repeat(30_000)}`,
    'project/AGENTS.md': new Uint8Array([0x89, 0x50, 0, 1]),
    'project/.claude/CLAUDE.md': new Uint8Array([0xff, 0xfe, 0x41]),
    'project/.claude/AGENTS.md': 'locked',
  });
  execFileSync('mkfifo', [join(root, 'CLAUDE.local.md')]);
  await symlink('round.md', join(root, '.claude/round.md'));
  await chmod(join(root, '.claude/AGENTS.md'), 0);
  const own = memory();
  const files = await own.load();
  expect(files[0]?.text.length).toBeLessThan(20_100);
  expect(files[0]?.text).toContain('(cut here: the file has 58.6 KB)');
  const problems = own.report().problems.map((problem) => problem.slice(root.length + 1));
  expect(problems).toContain('CLAUDE.md has 58.6 KB; only the first 39.1 KB are used');
  expect(problems).toContain('AGENTS.md is not text');
  expect(problems).toContain('.claude/CLAUDE.md is not text');
  expect(problems).toContain('CLAUDE.local.md is not a regular file');
});

test('a rule with paths is loaded once, when a matching file is touched', async () => {
  await put({
    'project/.claude/rules/ts.md': '---\npaths:\n  - "src/**/*.{ts,tsx}"\n  - docs/\n---\nUse types.',
    'project/.claude/rules/any.md': '---\npaths: "*.py, *.sh"\n---\nUse spaces.',
    'project/.claude/rules/odd.md': '---\npaths: [1, 2]\n---\nOdd.',
    'project/.claude/rules/broken.md': '---\n: : {\n---\nBroken.',
  });
  const own = memory();
  expect((await own.load()).map((file) => file.text)).toEqual(['Broken.', 'Odd.']);
  expect(own.report().problems).toHaveLength(2);
  expect(own.report().files.filter((file) => file.state === 'waiting')).toHaveLength(2);
  expect(await own.touch(['lib/a.ts', '../x.py'])).toEqual([]);
  expect((await own.touch([join(root, 'src/x/a.tsx')])).map((file) => file.text)).toEqual(['Use types.']);
  expect(await own.touch(['src/x/a.tsx'])).toEqual([]);
  expect((await own.touch(['deep/down/run.sh'])).map((file) => file.text)).toEqual(['Use spaces.']);
});

test('memory of a sub-folder is loaded once, when something below it is touched', async () => {
  await put({ 'project/CLAUDE.md': 'root', 'project/pkg/CLAUDE.md': 'pkg', 'project/pkg/src/AGENTS.md': 'src' });
  const own = memory();
  await own.load();
  expect((await own.touch(['pkg/src/a.ts'])).map((file) => [file.scope, file.text])).toEqual([
    ['nested', 'pkg'],
    ['nested', 'src'],
  ]);
  expect(await own.touch(['pkg/src/b.ts', 'pkg/c.ts'])).toEqual([]);
});

test('a changed memory file is reported once', async () => {
  await put({ 'project/CLAUDE.md': 'before' });
  const own = memory();
  await own.load();
  expect(await own.changed()).toEqual([]);
  await put({ 'project/CLAUDE.md': 'after' });
  await utimes(join(root, 'CLAUDE.md'), 1, 1);
  expect((await own.changed()).map((file) => file.text)).toEqual(['after']);
  expect(await own.changed()).toEqual([]);
  await rm(join(root, 'CLAUDE.md'));
  expect((await own.changed()).map((file) => file.text)).toEqual(['']);
});

test('all memory files together have a limit, and omissions are reported', async () => {
  await put(
    Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [`project/.claude/rules/${index}.md`, `${index}${'x'.repeat(35_000)}`]),
    ),
  );
  const own = memory();
  expect(await own.load()).toHaveLength(3);
  expect(own.report().problems).toHaveLength(2);
});

test('a pinned line is added to its file, and existing content is kept', async () => {
  await put({ 'project/CLAUDE.md': '# Ours\r\nno newline at the end' });
  const [shared, local] = listMemoryTargets({ root, userFile: join(base, 'home/.ouro/CLAUDE.md') });
  if (shared === undefined || local === undefined) throw new Error('targets are missing');
  await appendMemoryLine(shared.path, ' never push ');
  await appendMemoryLine(local.path, 'only here');
  await appendMemoryLine(local.path, '- and this');
  expect(await readFile(shared.path, 'utf8')).toBe('# Ours\r\nno newline at the end\r\n- never push\r\n');
  expect(await readFile(local.path, 'utf8')).toBe('- only here\n- and this\n');
});

test('after a compaction nested files, rules and edits are stated again', async () => {
  await put({
    'project/CLAUDE.md': 'before',
    'project/.claude/rules/sh.md': '---\npaths: **/*.sh\n---\nUse spaces.',
    'project/pkg/CLAUDE.md': 'pkg',
  });
  const own = memory();
  await own.load();
  expect((await own.touch(['pkg/a.sh'])).map((file) => file.text)).toEqual(['pkg', 'Use spaces.']);
  await put({ 'project/CLAUDE.md': 'after' });
  await utimes(join(root, 'CLAUDE.md'), 1, 1);
  expect((await own.changed()).map((file) => file.text)).toEqual(['after']);
  expect([...(await own.touch(['pkg/a.sh'])), ...(await own.changed())]).toEqual([]);
  own.compacted();
  expect((await own.changed()).map((file) => file.text)).toEqual(['after']);
  expect((await own.touch(['pkg/a.sh'])).map((file) => file.text)).toEqual(['pkg', 'Use spaces.']);
  expect([...(await own.touch(['pkg/a.sh'])), ...(await own.changed())]).toEqual([]);
});

test('reloading starts anew, and an approved edit is not reported', async () => {
  await put({ 'project/CLAUDE.md': 'one\n' });
  const own = memory();
  expect((await own.load()).map((file) => file.text)).toEqual(['one']);
  await appendMemoryLine(join(root, 'CLAUDE.md'), 'two');
  await utimes(join(root, 'CLAUDE.md'), 1, 1);
  await own.acceptEdit({ path: join(root, 'CLAUDE.md'), scope: 'project' });
  expect(await own.changed()).toEqual([]);
  expect((await own.load()).map((file) => file.text)).toEqual(['one\n- two']);
  await appendMemoryLine(join(root, 'CLAUDE.local.md'), 'three');
  await own.acceptEdit({ path: join(root, 'CLAUDE.local.md'), scope: 'local' });
  expect(own.report().files.map((file) => file.scope)).toEqual(['project', 'local']);
  own.compacted();
  expect([...(await own.touch(['a.ts'])), ...(await own.changed())]).toEqual([]);
});
