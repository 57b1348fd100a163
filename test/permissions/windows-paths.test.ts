import { win32 } from 'node:path';
import { expect, test } from 'vitest';
import type { Policy, RuleBehavior } from '../../src/contracts/permission.ts';
import { toNativePath, toPosixPath } from '../../src/lib/files/path-style.ts';
import { decide } from '../../src/permissions/decide.ts';
import type { FsEntryKind, PermissionFs } from '../../src/permissions/permission-fs.ts';
import { resolvePath } from '../../src/permissions/resolve-path.ts';
import { parseRuleTexts } from '../../src/permissions/rules/parse-rule.ts';

const CWD = 'C:\\Users\\Ada\\work';

/** What is on the disk: files by their real Windows path, and other names of folders and files. */
const FILES = [
  'C:\\Users\\Ada\\work\\src\\a.ts',
  'C:\\Users\\Ada\\work\\.env',
  'C:\\Users\\Ada\\work\\.git\\config',
  'C:\\Users\\Ada\\other\\b.txt',
  'C:\\Windows\\System32\\drivers\\etc\\hosts',
  'D:\\data\\c.txt',
];
const LINKS: Readonly<Record<string, string>> = {
  'c:\\users\\ada\\work\\junction': 'C:\\Users\\Ada\\other',
  'c:\\users\\ada~1': 'C:\\Users\\Ada',
};
const folders = new Set(FILES.flatMap(listParents));

function listParents(path: string): readonly string[] {
  const parent = win32.dirname(path);
  return parent === path ? [] : [parent, ...listParents(parent)];
}

function findRealPath(path: string): string | undefined {
  const native = toNativePath(path, 'win32');
  const key = native.toLowerCase();
  const link = Object.keys(LINKS).find((name) => key === name || key.startsWith(`${name}\\`));
  if (link !== undefined) return findRealPath(toPosixPath((LINKS[link] ?? '') + native.slice(link.length), 'win32'));
  const found = [...FILES, ...folders].find((name) => name.toLowerCase() === key);
  return found === undefined ? undefined : toPosixPath(found, 'win32');
}

function getKind(path: string): FsEntryKind | undefined {
  const native = toNativePath(path, 'win32');
  if (Object.hasOwn(LINKS, native.toLowerCase())) return 'link';
  const real = findRealPath(path);
  if (real === undefined) return undefined;
  return FILES.includes(toNativePath(real, 'win32')) ? 'file' : 'directory';
}

const touched: string[] = [];
const fs: PermissionFs = {
  lstat(path) {
    touched.push(path);
    const kind = getKind(path);
    return kind === undefined ? undefined : { kind, nlink: 1 };
  },
  readlink: () => '',
  readdir: () => [],
  listEntries: () => [],
  readFile: () => undefined,
  readBytes: () => undefined,
  realpath(path) {
    touched.push(path);
    return findRealPath(path);
  },
};

const resolve = (path: string) => {
  const { real, kind, problem } = resolvePath(fs, { cwd: CWD, home: 'C:\\Users\\Ada' }, path);
  return problem === undefined ? `${kind} ${real}` : problem;
};

test.each([
  ['src\\a.ts', 'file /c/Users/Ada/work/src/a.ts'],
  ['SRC/A.TS', 'file /c/Users/Ada/work/src/a.ts'],
  ['C:\\Users\\ADA~1\\work\\src\\a.ts', 'file /c/Users/Ada/work/src/a.ts'],
  ['/c/Users/Ada/work/src', 'directory /c/Users/Ada/work/src'],
  ['..\\other\\b.txt', 'file /c/Users/Ada/other/b.txt'],
  ['junction\\b.txt', 'file /c/Users/Ada/other/b.txt'],
  ['junction\\new.txt', 'missing /c/Users/Ada/other/new.txt'],
  ['~/other', 'directory /c/Users/Ada/other'],
  ['D:\\data', 'directory /d/data'],
  ['junction\\..\\src\\a.ts', 'Programs disagree about ".." after a link.'],
  ['src\\a.ts::$DATA', 'It names a stream of a file, or the current folder of a drive.'],
  ['D:c.txt', 'It names a stream of a file, or the current folder of a drive.'],
  ['.env.', 'Windows ignores dots and spaces at the end of a name.'],
  ['\\\\server\\share\\a', 'It is on another machine.'],
  ['\\\\.\\PhysicalDrive0', 'It is on another machine.'],
  ['E:\\a', 'Its drive does not exist.'],
  ['/tmp/a', 'Its drive is unknown.'],
])('%s: %s', (path, expected) => {
  expect(resolve(path)).toBe(expected);
});

test('nothing on another machine is looked up', () => {
  touched.length = 0;
  resolve('\\\\server\\share\\secret');
  resolve('//server/share/secret');
  expect(touched).toEqual([]);
});

const rules = (behavior: RuleBehavior, ...texts: readonly string[]) =>
  parseRuleTexts(texts, behavior, { source: 'user', root: CWD });

const policy: Policy = {
  mode: 'acceptEdits',
  rules: [
    ...rules('deny', 'Read(C:\\Users\\Ada\\other\\**)', 'Edit(//d/data/**)'),
    ...rules('allow', 'Read(D:/data/**)'),
  ],
  workspaceRoots: [CWD],
  cwd: CWD,
  home: 'C:\\Users\\Ada',
  trusted: true,
  canBypass: false,
  protectedPaths: ['C:\\Users\\Ada\\.ouro'],
  sensitivePaths: [],
  searchPath: [],
  disk: 'case-insensitive',
};

const decideFile = (use: 'reads' | 'writes', path: string) =>
  decide(
    { tool: use === 'reads' ? 'Read' : 'Edit', input: {}, kind: use === 'reads' ? 'read' : 'edit', [use]: [path] },
    policy,
    fs,
  ).verdict;

test.each([
  ['reads', 'src\\a.ts', 'allow'],
  ['reads', 'C:/USERS/ada/work/src/a.ts', 'allow'],
  ['reads', 'D:\\DATA\\c.txt', 'allow'],
  ['reads', '.ENV', 'ask'],
  ['reads', 'c:\\users\\ada\\OTHER\\b.txt', 'deny'],
  ['reads', 'junction\\b.txt', 'deny'],
  ['reads', 'C:\\Windows\\System32\\drivers\\etc\\hosts', 'ask'],
  ['writes', 'src\\a.ts', 'allow'],
  ['writes', 'src\\new.ts', 'allow'],
  ['writes', '.git\\config', 'ask'],
  ['writes', 'C:\\Users\\Ada\\.ouro\\settings.json', 'ask'],
  ['writes', 'D:\\data\\c.txt', 'deny'],
  ['writes', 'src\\a.ts:hidden', 'ask'],
] as const)('%s %s: %s', (use, path, verdict) => {
  expect(decideFile(use, path)).toBe(verdict);
});

const decideCommand = (command: string) =>
  decide({ tool: 'Bash', input: { command }, kind: 'shell', command }, policy, fs).verdict;

test.each([
  ['cat src/a.ts', 'allow'],
  ['cat /c/Users/Ada/work/src/a.ts', 'allow'],
  ['cat C:/Users/Ada/work/src/a.ts', 'allow'],
  ["cat 'src\\a.ts'", 'allow'],
  ['cat /c/users/ada/other/b.txt', 'deny'],
  ["cat 'C:\\Users\\Ada\\other\\b.txt'", 'deny'],
  ['cat //server/share/a', 'ask'],
  ['cat .env', 'ask'],
  ['echo x > /d/data/c.txt', 'deny'],
] as const)('%s: %s', (command, verdict) => {
  expect(decideCommand(command)).toBe(verdict);
});
