import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { longTest } from '../support/long-test.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { violations } from './violations.ts';
import { testNameViolations } from './wording.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const LEAF = 'export const leaf = 1;\n';

/** One violation each: a description, the files, and the expected message. */
const PLANTED: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  [
    'a forbidden import',
    { 'tools/a.ts': "import { leaf } from '../session/b.ts';", 'session/b.ts': LEAF },
    'tools/a.ts: tools may not import session (static import of session/b.ts)',
  ],
  [
    'a forbidden import over several lines',
    { 'ui/A.tsx': "import {\n  leaf,\n} from '../engine/b.ts';", 'engine/b.ts': LEAF },
    'ui/A.tsx: ui may not import engine (static import of engine/b.ts)',
  ],
  [
    'a forbidden import for its effect',
    { 'lib/a.ts': "import '../contracts/b.ts';", 'contracts/b.ts': 'export {};\n' },
    'lib/a.ts: lib may not import contracts (static import of contracts/b.ts)',
  ],
  [
    'a forbidden dynamic import',
    { 'engine/a.ts': "export const a = () => import('../tools/b.ts');", 'tools/b.ts': LEAF },
    'engine/a.ts: engine may not import tools (dynamic import of tools/b.ts)',
  ],
  [
    'a dynamic import of a computed file',
    { 'engine/a.ts': 'export const a = (file: string) => import(file);' },
    'engine/a.ts: a dynamic import must name its file as plain text',
  ],
  [
    'a forbidden type import',
    { 'agent/a.ts': "import type { Leaf } from '../app/b.ts';", 'app/b.ts': LEAF },
    'agent/a.ts: agent may not import app (type import of app/b.ts)',
  ],
  [
    'a forbidden type inside a type',
    { 'agent/a.ts': "export type A = import('../app/b.ts').Leaf;", 'app/b.ts': LEAF },
    'agent/a.ts: agent may not import app (dynamic import of app/b.ts)',
  ],
  [
    'a forbidden re-export',
    { 'app/a.ts': "export * from '../cli/b.ts';", 'cli/b.ts': LEAF },
    'app/a.ts: app may not import cli (static import of cli/b.ts)',
  ],
  [
    'a contract of one room',
    { 'contracts/a.ts': 'export type A = 1;', 'app/a.ts': "import type { A as B } from '../contracts/a.ts';" },
    'contracts/a.ts: A is used by app only; move it there',
  ],
  [
    'a contract that only other contracts of one room use',
    {
      'contracts/a.ts': "export const b = 1;\nimport type { C } from './c.ts';\ntype D = C;\nexport type A = D;",
      'contracts/c.ts': 'export type C = 1;',
      'app/a.ts': "export { b } from '../contracts/a.ts';",
      'sdk/a.ts': "import type { A } from '../contracts/a.ts';\nimport { b } from '../contracts/a.ts';",
      'agent/a.ts': "import type { A } from '../contracts/a.ts';",
      'engine/a.ts': "import type { C } from '../contracts/c.ts';",
      'contracts/d.ts': "import type { A } from './a.ts';\nexport type E = A;",
    },
    'contracts/d.ts: E is used by no room',
  ],
  [
    'an import of a package outside of the table of commands',
    {
      'cli/a.ts': "export const a = () => import('../../packages/fleet/src/a.ts');",
      'packages/fleet/src/a.ts': LEAF,
    },
    'cli/a.ts: cli may not import packages/fleet (dynamic import of packages/fleet/src/a.ts)',
  ],
  [
    'a package that is loaded with the table of commands',
    { 'cli/packages.ts': "import '../../packages/fleet/src/a.ts';", 'packages/fleet/src/a.ts': LEAF },
    'cli/packages.ts: cli may not import packages/fleet (static import of packages/fleet/src/a.ts)',
  ],
  [
    'an import of a file of the core in a package',
    { 'packages/fleet/src/cli/a.ts': "import '../../../../src/exports/commands.ts';", 'exports/commands.ts': LEAF },
    'packages/fleet/src/cli/a.ts: "../../../../src/exports/commands.ts" is not in packages/fleet; import a public export by its name',
  ],
  [
    'an import of what the core does not offer',
    { 'packages/fleet/src/a.ts': "import '@ouro-cli/ouro/engine';" },
    'packages/fleet/src/a.ts: "@ouro-cli/ouro/engine" is not a source file with its extension',
  ],
  [
    'a core that imports itself by what it offers to packages',
    { 'app/a.ts': "import '../exports/commands.ts';", 'exports/commands.ts': LEAF },
    'app/a.ts: app may not import exports (static import of exports/commands.ts)',
  ],
  [
    'a package that imports another one without leave',
    { 'packages/import/src/a.ts': "import '@ouro-cli/fleet/task-runs';", 'packages/fleet/src/task-runs.ts': LEAF },
    'packages/import/src/a.ts: packages/import may not import packages/fleet (static import of packages/fleet/src/task-runs.ts)',
  ],
  ['an unknown layer', { 'utils/a.ts': LEAF }, 'utils/a.ts: "utils" is not a layer'],
  [
    'an import without its extension',
    { 'lib/a.ts': "import { leaf } from './b';", 'lib/b.ts': LEAF },
    'lib/a.ts: "./b" is not a source file with its extension',
  ],
  [
    'a cycle, even one of types',
    {
      'lib/a.ts': "import { b } from './b.ts';",
      'lib/b.ts': "import type { C } from './c.ts';",
      'lib/c.ts': "export const c = () => import('./a.ts');",
    },
    'cycle: lib/a.ts → lib/b.ts → lib/c.ts → lib/a.ts',
  ],
  [
    'a Node module in the engine',
    { 'engine/a.ts': "import { randomUUID } from 'node:crypto';\n" },
    'engine/a.ts: engine imports node:crypto, which browsers do not have',
  ],
  ['301 lines', { 'lib/a.ts': 'leaf();\n'.repeat(301) }, 'lib/a.ts: has 301 lines, more than 300'],
  ['a default export', { 'lib/a.ts': 'export default 1;\n' }, 'lib/a.ts: has a default export'],
  [
    'a read of the environment',
    { 'model/a.ts': 'export const key = process.env.KEY;\n' },
    'model/a.ts: reads the environment, which only app/environment.ts may',
  ],
  [
    'an environment imported under its own name',
    { 'model/a.ts': "import { env } from 'node:process';\n" },
    'model/a.ts: reads the environment, which only app/environment.ts may',
  ],
  ...["fetch('http://a');", 'export const send = (by = fetch) => by;', 'run(globalThis.fetch);'].map(
    (use): [string, Record<string, string>, string] => [
      `a request past the rule for this machine: ${use}`,
      { 'model/a.ts': use },
      "model/a.ts: uses the runtime's fetch, which sends requests to this machine to a proxy; import lib/network/fetch.ts",
    ],
  ),
  [
    'text marked printable outside the sanitizers',
    { 'ui/a.ts': "import { markAsPrintable } from '../lib/printable.ts';\n", 'lib/printable.ts': LEAF },
    'ui/a.ts: marks text as printable; sanitize or paint it instead',
  ],
  [
    'a write to the terminal that is not sanitized',
    { 'cli/a.ts': "process.stdout.write('x');\n" },
    'cli/a.ts: writes to the terminal; only command/process-io.ts may, because it sanitizes',
  ],
  [
    'text rendered without the check for printable text',
    { 'ui/A.tsx': "import { Box, Text } from 'ink';\n" },
    'ui/A.tsx: renders Text of Ink; use ui/text/Rows.tsx, which accepts only printable text',
  ],
  ['a suppressed check', { 'lib/a.ts': `// @ts-${'ignore'}\n` }, 'lib/a.ts: suppresses a check'],
  ['a TODO', { 'lib/a.ts': '// TODO: soon\n' }, 'lib/a.ts: has a TODO without an issue number'],
  [
    'a schema that is created at each use',
    { 'lib/a.ts': 'export const keys = () => Object.keys(schema.unwrap().shape);\n' },
    'lib/a.ts: unwraps a schema, which creates a lazy one again; read _zod.innerType',
  ],
  ['module state', { 'lib/a.ts': 'let count = 0;\n' }, 'lib/a.ts: has mutable module state'],
  ['an index', { 'lib/index.ts': LEAF }, 'lib/index.ts: import the file itself, not an index'],
  ['a camelCase file', { 'lib/aThing.ts': LEAF }, 'lib/aThing.ts: files are kebab-case.ts, components PascalCase.tsx'],
  [
    'a heavy library at every start',
    { 'cli/main.ts': "import { print } from './print.ts';", 'cli/print.ts': "import { render } from 'ink';" },
    'cli/print.ts: loads ink at every start; import it where it is used',
  ],
  [
    'a file that joins many rooms',
    Object.fromEntries([
      [
        'app/loop/part.ts',
        ['git', 'model', 'tools', 'hooks', 'mcp', 'lsp', 'session']
          .map((room) => `import '../../${room}/a.ts';\n`)
          .join(''),
      ],
      ...['git', 'model', 'tools', 'hooks', 'mcp', 'lsp', 'session'].map((room) => [`${room}/a.ts`, LEAF]),
    ]),
    'app/loop/part.ts: imports from 7 rooms, more than 6: git, hooks, lsp, mcp, model, session, tools',
  ],
  [
    'a folder with too many files',
    Object.fromEntries(Array.from({ length: 26 }, (_, number) => [`lib/a-${number}.ts`, LEAF])),
    'lib/: has 26 files, more than 25',
  ],
  ['a folder with one file', { 'lib/a/one.ts': LEAF }, 'lib/a/: has only lib/a/one.ts; move it up'],
  [
    'a small file with one reader beside it',
    { 'lib/a.ts': LEAF, 'lib/b.ts': "import { leaf } from './a.ts';\n" },
    'lib/a.ts: has 1 lines and one reader, b.ts; move it there',
  ],
  [
    'two folders that import each other',
    {
      'lib/a/one.ts': "import { leaf } from '../b/two.ts';\n",
      'lib/a/three.ts': LEAF,
      'lib/b/two.ts': LEAF,
      'lib/b/four.ts': "import { leaf } from '../a/three.ts';\n",
    },
    'lib/: a cycle of folders: a → b → a',
  ],
  [
    'a file of app that belongs to one capability',
    { 'app/loop/part.ts': "import { leaf } from '../../tools/leaf.ts';\n", 'tools/leaf.ts': LEAF },
    'app/loop/part.ts: uses only tools; move it there',
  ],
  [
    'a file of app that uses only the core',
    {
      'app/loop/part.ts': "import type { Core } from '../core.ts';\n",
      'app/core.ts': "import '../tools/leaf.ts';\nimport '../model/leaf.ts';\n",
      'tools/leaf.ts': LEAF,
      'model/leaf.ts': LEAF,
    },
    'app/loop/part.ts: uses only the core; move it there',
  ],
  [
    'the name of a program outside of its table',
    { 'permissions/shell/a.ts': "export const isShell = (name: string) => name === 'bash';\n" },
    'permissions/shell/a.ts: names the program bash; only permissions/shell/programs may',
  ],
  [
    'the name of a program in a pattern',
    { 'permissions/a.ts': 'export const INTERPRETER = /^(?:lua[\\d.]*|ruta)$/;\n' },
    'permissions/a.ts: names the program lua; only permissions/shell/programs may',
  ],
  [
    'the name of a tool where its calls are decided',
    { 'permissions/a.ts': "export const isShell = (tool: string) => tool === 'Bash';\n" },
    'permissions/a.ts: names the tool Bash; its definition must declare the property',
  ],
  [
    'a list of tools where results are left out',
    { 'context/a.ts': "const LOOKING = ['Grep', 'LS'];\n" },
    'context/a.ts: names the tool Grep; its definition must declare the property',
  ],
  [
    'a tool by its name in a library',
    { 'lib/a.ts': "export const isShell = (name: string) => name === 'Bash';\n" },
    'lib/a.ts: names the tool Bash; its definition must declare the property',
  ],
  [
    'a core that imports a folder of app',
    {
      'app/core.ts': "import './loop/part.ts';\n",
      'app/loop/part.ts': "import '../../tools/leaf.ts';\nimport '../../model/leaf.ts';\n",
      'tools/leaf.ts': LEAF,
      'model/leaf.ts': LEAF,
    },
    'app/core.ts: every folder of app/ imports the core, so it may not import app/loop/part.ts',
  ],
  [
    'an import against the order of the folders of app',
    {
      'app/permissions/part.ts':
        "import '../../tools/leaf.ts';\nimport '../../model/leaf.ts';\nimport '../loop/part.ts';\n",
      'app/loop/part.ts': "import '../../tools/leaf.ts';\nimport '../../model/leaf.ts';\n",
      'tools/leaf.ts': LEAF,
      'model/leaf.ts': LEAF,
    },
    'app/permissions/part.ts: app/permissions may not import app/loop/part.ts',
  ],
];

/** The tiny sources above also break the rules for small files and folders, which have cases of their own. */
const SMALL = /has only \S+; move it up$|and one reader, /;

/** Spellings of the same violation that are easily missed. */
const PROGRAMS_NAMED = [
  'export const a = (name: string) => name === `python3`;',
  'export const a = { python3: 1, lua: 2 };',
  "export const a = 'python3,lua'.split(',');",
  "export const a = ['/usr/bin/python3'];",
  'export const a = /^(\\/usr\\/bin\\/)?(python3|ruby)$/;',
  'export const a = /\\b(?:python3|node)\\b/;',
  "export const a = new RegExp('^(python3|ruby)$');",
  "export type A = 'python3' | 'ruby';",
];
const TOOLS_NAMED = [
  'export const a = (tool: string) => tool === `Read`;',
  'export const a = { Read: 1, Write: 2 };',
  'export const a = /^(?:Read|Write)$/;',
  "export const a = 'Read Write'.split(' ');",
  "export const a = (rule: string) => rule.startsWith('Read(');",
  "export type A = 'Read' | 'Write';",
];

test('names of programs and tools are found in every notation', () => {
  const open = ['permissions/a.ts', 'permissions/shell/programs-too.ts', 'app/permissions/a.ts'].flatMap((path) => [
    ...PROGRAMS_NAMED.filter(
      (text) =>
        !violations({ [path]: text })
          .join()
          .includes('names the program python3'),
    ),
    ...TOOLS_NAMED.filter(
      (text) =>
        !violations({ [path]: text })
          .join()
          .includes('names the tool Read'),
    ),
  ]);
  expect(open).toEqual([]);
});

test('forbidden imports are found in every notation', () => {
  const imports = [
    "const x = 1; import { leaf } from '../session/b.ts';",
    "import {\n  leaf, /* don't */\n} from '../session/b.ts';",
    "export const a = () => import(/* later */ '../session/b.ts');",
    'export const a = () => import(`../session/b.ts`);',
    "export const a = () => new Worker(new URL('../session/b.ts', import.meta.url));",
    "import leaf from '../session/b.ts' with { type: 'text' };",
  ];
  const open = imports.filter((text) => violations({ 'tools/a.ts': text, 'session/b.ts': LEAF }).length !== 1);
  expect(open).toEqual([]);
});

test.each(PLANTED)('%s is found', (_, sources, sentence) => {
  expect(violations(sources).filter((found) => !SMALL.test(found) || SMALL.test(sentence))).toEqual([sentence]);
});

test('sources that follow the rules pass, and imports in comments are ignored', () => {
  const sources = {
    'cli/main.ts': "import { Command } from 'commander';\nexport const go = () => import('./repl.ts');\n",
    'cli/packages.ts': "export const batch = () => import('../../packages/fleet/src/batch.ts');\n",
    'packages/fleet/src/batch.ts': "import { UsageError } from '@ouro-cli/ouro/commands';\n",
    'packages/eval/src/a.ts': "import '@ouro-cli/fleet/task-runs';\n",
    'packages/fleet/src/task-runs.ts': LEAF,
    'exports/commands.ts': "export { UsageError } from '../command/usage-error.ts';\n",
    'command/usage-error.ts': 'export class UsageError extends Error {}\n',
    'cli/repl.ts': "import { render } from 'ink';\nimport { App } from '../ui/App.tsx';\nimport '../app/compose.ts';\n",
    'ui/App.tsx': "// import { x } from '../engine/query.ts'\nimport type { Leaf } from '../contracts/leaf.ts';\n",
    'ui/use-thing.tsx': "import type { Leaf } from '../contracts/leaf.ts';\n",
    'app/compose.ts': "import { env } from './environment.ts';\nimport { query } from '../engine/query.ts';\n",
    'app/environment.ts': 'export const env = () => process.env;\n',
    'engine/query.ts': "export { type Leaf as Blade } from '../contracts/leaf.ts';\n",
    'lib/long.ts': LEAF.repeat(300),
    'contracts/leaf.ts': "import type { Vein } from './vein.ts';\nexport type Leaf = { readonly vein: Vein };\n",
    'contracts/vein.ts': 'export type Vein = string;\n',
  };
  expect(violations(sources).filter((found) => !SMALL.test(found))).toEqual([]);
});

test('names without a verb and comments that begin with a question word are limited for the tree as a whole', () => {
  const named = (name: string) =>
    `/** ${name === 'size' ? 'What' : 'Returns what'} it has. */\nexport function ${name}() {}\n`;
  const tree = (nouns: number) =>
    Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`lib/a-${at}.ts`, named(at < nouns ? 'size' : 'getSize')]),
    );
  const wording = (nouns: number) => violations(tree(nouns)).filter((found) => !found.includes('files, more than'));
  expect(wording(3)).toEqual([]);
  expect(wording(4).map((found) => found.slice(0, 40))).toEqual(['comments that begin with a question word']);
  expect(wording(16).map((found) => found.slice(0, 23))).toEqual([
    'exported functions with',
    'comments that begin wit',
  ]);
});

test('an exported name has no word of the stop list', () => {
  const text = `/** The settings. */\nexport type OwnSettings = {};\n/** The text. */\nexport const MARKDOWN = 'x';\n`;
  expect(violations({ 'lib/a.ts': text }).filter((found) => found.includes('stop list'))).toEqual([
    'lib/a.ts: the name OwnSettings has a word of the stop list',
  ]);
});

test('a name in a test has no word of the stop list, wherever it is declared', () => {
  const text = `const TOLD = 1;
type Wish = { heard: number };
function tell({ a: hears, own }: Wish, [ways]: string[]) {
  for (const ours of ways) run((nobody) => nobody.told(\`told \${ours}\`));
}\n`;
  expect(testNameViolations({ 'lib/a.test.ts': text })).toEqual(
    ['TOLD', 'Wish', 'tell', 'hears', 'ways', 'ours', 'nobody'].map(
      (name) => `lib/a.test.ts: the name ${name} has a word of the stop list`,
    ),
  );
});

/** Creates a small project with the configuration of ouro and the given files. */
function project(files: Readonly<Record<string, string>>): string {
  const folder = createTempFolder();
  for (const name of ['biome.json', 'tsconfig.json', 'knip.json']) cpSync(join(root, name), join(folder, name));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, '.gitignore'), readFileSync(join(root, '.gitignore'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), '{ "name": "planted", "type": "module" }\n');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Runs a program of the check in such a project. */
function run(tool: string, args: readonly string[], folder: string): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [join(root, 'node_modules', tool), ...args], {
    cwd: folder,
    // The tools keep caches in the home folder.
    env: { ...process.env, NO_COLOR: '1', HOME: folder, XDG_CACHE_HOME: folder },
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })));
}

const ASYNC = 'export async function save(): Promise<void> {\n  await Promise.resolve();\n}\n';

test.each([
  ['of a function beside it', { 'src/lib/a.ts': `${ASYNC}\nexport function now(): void {\n  save();\n}\n` }],
  [
    'of a function imported from another file',
    {
      'src/lib/a.ts': ASYNC,
      'src/lib/b.ts': "import { save } from './a.ts';\n\nexport function now(): void {\n  save();\n}\n",
    },
  ],
  [
    'of a function it was given',
    { 'src/lib/a.ts': 'export function now(deps: { readonly act: () => Promise<void> }): void {\n  deps.act();\n}\n' },
  ],
])('Biome fails on a floating promise %s', async (_, files) => {
  const ended = await run('@biomejs/biome/bin/biome', ['ci', 'src'], project(files));
  expect(ended).toMatchObject({ code: 1, said: expect.stringContaining('noFloatingPromises') });
});

test('Biome fails on `any`, on `!` and on an unformatted file', async () => {
  const text = 'export const a=(b: any, c?: { d: number }) => [b, c!.d];\n';
  const ended = await run('@biomejs/biome/bin/biome', ['ci', 'src'], project({ 'src/lib/a.ts': text }));
  expect(ended.code).toBe(1);
  for (const rule of ['noExplicitAny', 'noNonNullAssertion', 'format']) expect(ended.said).toContain(rule);
});

longTest('knip fails on an unused export', async () => {
  const files = {
    'src/cli/main.ts': "import { used } from '../lib/a.ts';\n\nused();\n",
    'src/sdk/ouro.ts': '',
    'src/lib/a.ts': 'export function used(): void {}\nexport function forgotten(): void {}\n',
  };
  const ended = await run('knip/bin/knip.js', ['--no-progress', '--include', 'exports'], project(files));
  expect(ended).toMatchObject({ code: 1, said: expect.stringContaining('forgotten') });
});

longTest('the compiler fails on a wrong type and on an unchecked index access', async () => {
  const text = "export const a: number = 'one';\nexport const b = (c: readonly string[]): string => c[0];\n";
  const ended = await run('typescript/bin/tsc', ['-p', '.'], project({ 'src/lib/a.ts': text }));
  expect(ended.code).not.toBe(0);
  expect(ended.said).toContain('a.ts(1,14): error TS2322');
  expect(ended.said).toContain('a.ts(2,');
});
