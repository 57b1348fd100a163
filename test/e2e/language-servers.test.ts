import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CALL_MARKER } from '../../src/lib/processes/process-tree.ts';
import { startUnchecked } from '../../src/lib/processes/program-check.ts';
import { createDiagnosticsTracker, listDiagnostics } from '../../src/lsp/diagnostics-tracker.ts';
import { createLanguageServerFinder } from '../../src/lsp/find-language-servers.ts';
import type { FileDiagnostics } from '../../src/lsp/language-server.ts';
import { createLanguageServers } from '../../src/lsp/language-server-manager.ts';
import { findSymbolRenameChanges } from '../../src/lsp/symbol-rename.ts';
import type { FileLineEdits } from '../../src/tools/edit/file-line-edits.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { clientFile, NO_CLIENTS } from '../support/third-party.ts';

/** The servers that are installed here, as a session finds them. */
function openServers(project: TempProject) {
  const marker = crypto.randomUUID();
  const search = createLanguageServerFinder({
    folder: project.dir,
    path: [clientFile('.bin')],
    isExcluded: () => false,
    getProjectPrograms: () => undefined,
    onUnused: () => undefined,
  });
  const warnings: string[] = [];
  const servers = createLanguageServers({
    checkProgram: startUnchecked,
    folder: project.dir,
    version: '1',
    listServers: (path) => (path === undefined ? search.listFound() : search.find(path)),
    getVariables: () => ({ PATH: process.env.PATH ?? '', HOME: project.home, TMPDIR: dirname(project.home) }),
    newMarker: () => marker,
    ledger: undefined,
    warn: (text) => void warnings.push(text),
    waitLimits: { maxMs: 60_000, overdueMs: 60_000, quietMs: 300 },
  });
  const tracker = createDiagnosticsTracker(servers, () => undefined);
  return {
    warnings,
    servers,
    read: (name: string) => tracker.recordRead(join(project.dir, name)),
    async write(name: string, text: string): Promise<void> {
      await project.write(name, text);
      await tracker.recordWrite(join(project.dir, name));
    },
    /** Waits for diagnostics that a server has published. */
    async until(isMet: (known: ReadonlyMap<string, FileDiagnostics>) => boolean): Promise<void> {
      while (!servers.listRunning().some((server) => isMet(server.known()))) await delay(50);
    },
    /** Takes reports until one is there: a server may say first that it has found nothing yet. */
    async takeReport(): Promise<string> {
      for (;;) {
        const reports = await tracker.takeNewDiagnostics(new AbortController().signal);
        if (reports.length > 0) return reports.join('\n');
        await delay(50);
      }
    },
    async [Symbol.asyncDispose]() {
      await servers.close();
      await expectNoProcessesLeft(`${CALL_MARKER}=${marker}`);
    },
  };
}

const LANGUAGES = [
  {
    server: 'typescript',
    name: 'a.ts',
    oldErrors: 1,
    before: 'export const old: number = "old";\n',
    wrong: 'export const old: number = "old";\nexport const fresh: string = 7;\n',
    report:
      /^The language server typescript finds since the last changes:\na\.ts:2:14 error: Type 'number'.*'string'.*$/,
  },
  {
    server: 'pyright',
    name: 'a.py',
    oldErrors: 1,
    before: 'old: int = "old"\n',
    wrong: 'old: int = "old"\nfresh: str = 7\n',
    report: /^The language server pyright finds since the last changes:\na\.py:2:14 error: Type .*declared type.*$/,
  },
  {
    server: 'bash',
    name: 'a.sh',
    oldErrors: 0,
    before: 'echo old\n',
    wrong: 'echo old\nif true; then\n',
    report: /^The language server bash finds since the last changes:\na\.sh:\d+:\d+ error: (?:.|\n)*$/,
  },
];

/** The server for bash only passes on what shellcheck finds. */
const hasShellcheck = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'shellcheck')));
const tested = LANGUAGES.filter(({ server }) => server !== 'bash' || hasShellcheck);

test.skipIf(NO_CLIENTS !== undefined).each(tested)(
  'a real server for $name tells an error that an edit makes, with its line, and no older one',
  async ({ name, before, oldErrors, wrong, report }) => {
    await using project = await createTempProject({ [name]: before, 'tsconfig.json': '{"files":["a.ts"]}' });
    await symlink(clientFile('.'), join(project.dir, 'node_modules'));
    await using servers = openServers(project);
    await servers.read(name);
    await servers.until((known) => (known.get(join(project.dir, name))?.problems.length ?? -1) === oldErrors);
    await servers.write(name, wrong);
    expect(await servers.takeReport()).toMatch(report);
    expect(servers.warnings).toEqual([]);
  },
  90_000,
);

/** An edit of one file that makes an error in another one. */
type UserCase = {
  readonly server: string;
  readonly files: Readonly<Record<string, string>>;
  readonly changed: readonly [string, string];
  readonly report: RegExp;
};

test.skipIf(NO_CLIENTS !== undefined).each<UserCase>([
  {
    server: 'typescript',
    files: {
      'a.ts': 'export const one = 1;\nexport const two = 2;\n',
      'b.ts': "import { one } from './a';\nexport const old: string = 7;\nexport const all = { one };\n",
    },
    changed: ['a.ts', 'export const uno = 1;\nexport const two = 2;\n'],
    report: /^b\.ts:1:10 error: .*'one'/,
  },
  {
    server: 'pyright',
    files: { 'a.py': 'one = 1\ntwo = 2\n', 'b.py': 'from a import one\nold: str = 7\nprint(one)\n' },
    changed: ['a.py', 'uno = 1\ntwo = 2\n'],
    report: /^b\.py:1:15 error: .*"one"/,
  },
])(
  '$server tells the errors that an edit causes in an unread file, and no older one',
  async ({ files, changed, report }) => {
    const [name, text] = changed;
    await using project = await createTempProject({
      ...files,
      'tsconfig.json': '{"compilerOptions":{"strict":true}}',
      'pyrightconfig.json': '{}',
    });
    await symlink(clientFile('.'), join(project.dir, 'node_modules'));
    await using servers = openServers(project);
    await servers.read(name);
    await servers.until((known) => known.has(join(project.dir, name)));
    await servers.write(name, text);
    const [, ...lines] = (await servers.takeReport()).split('\n');
    expect(lines).toEqual([expect.stringMatching(report)]);
  },
  90_000,
);

const NEVER = new AbortController().signal;

/** A project with a name that is used in two files. */
type RenameCase = {
  readonly first: string;
  readonly files: Readonly<Record<string, string>>;
  readonly character: number;
  readonly changed: Readonly<Record<string, FileLineEdits['edits']>>;
  readonly problem: RegExp;
};

test.skipIf(NO_CLIENTS !== undefined).each<RenameCase>([
  {
    first: 'a.ts',
    files: {
      'a.ts': 'export const one = 1;\r\nconst x: string = one;\r\n',
      'b.ts': "import { one } from './a';\nexport const all = { one };\n",
    },
    character: 14,
    changed: {
      'a.ts': [
        { line: 1, old_string: 'export const one = 1;\r', new_string: 'export const two = 1;\r' },
        { line: 2, old_string: 'const x: string = one;\r', new_string: 'const x: string = two;\r' },
      ],
      'b.ts': [
        { line: 1, old_string: "import { one } from './a';", new_string: "import { two } from './a';" },
        { line: 2, old_string: 'export const all = { one };', new_string: 'export const all = { one: two };' },
      ],
    },
    problem: /^a\.ts:2:7 error: Type 'number'.*'string'/,
  },
  {
    first: 'a.py',
    files: { 'a.py': 'one = 1\nx: str = one\n', 'b.py': 'from a import one\nprint(one, one)\n' },
    character: 1,
    changed: {
      'a.py': [
        { line: 1, old_string: 'one = 1', new_string: 'two = 1' },
        { line: 2, old_string: 'x: str = one', new_string: 'x: str = two' },
      ],
      'b.py': [
        { line: 1, old_string: 'from a import one', new_string: 'from a import two' },
        { line: 2, old_string: 'print(one, one)', new_string: 'print(two, two)' },
      ],
    },
    problem: /^a\.py:2:10 error: .*"str"/,
  },
])(
  'a real server for $first lists the problems of a file, and renames a name in all files',
  async ({ first, files, character, changed, problem }) => {
    const configs = { 'tsconfig.json': '{"compilerOptions":{"strict":true}}', 'pyrightconfig.json': '{}' };
    await using project = await createTempProject({ ...files, ...configs });
    await symlink(clientFile('.'), join(project.dir, 'node_modules'));
    await using opened = openServers(project);
    const path = join(project.dir, first);
    expect((await listDiagnostics(opened.servers, path, NEVER)).join('\n')).toMatch(problem);
    const request = { path, line: 1, character, newName: 'two' };
    const changes = await findSymbolRenameChanges(opened.servers, request, NEVER);
    expect(
      Object.fromEntries(changes.map(({ file_path, edits }) => [relative(project.dir, file_path), edits])),
    ).toEqual(changed);
    expect(opened.warnings).toEqual([]);
  },
  90_000,
);
