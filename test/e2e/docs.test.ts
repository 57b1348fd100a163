import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type Script, startApiServer } from '../support/api/server.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCS = join(ROOT, 'docs');
const read = (name: string) => readFileSync(join(DOCS, name), 'utf8');

/** A fenced block: its language, what stands behind it (a file's name, or `run`), and its text. */
function blocksOf(page: string) {
  return [...read(page).matchAll(/^```(\w+) ([^\n]+)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', name = '', text = '']) => ({
      language,
      name,
      text,
    }),
  );
}

/** What the example of each page makes true: words that reach the model, or that are printed. */
type Example = { readonly page: string; readonly words: readonly string[]; readonly turns?: Script['turns'] };

const EXAMPLES: readonly Example[] = [
  { page: 'commands.md', words: ['Look for misleading names in what lies here', 'RULES.md', 'Names are nouns.'] },
  {
    page: 'skills.md',
    words: ['How the changelog of this project is written', 'No commit hashes', 'for the last release'],
  },
  { page: 'sub-agents.md', words: ['Finds where something is written down'] },
  {
    page: 'hooks.md',
    words: ['Today is a Friday.', 'Publishing is done by the release workflow.'],
    turns: [
      calls(toolUse('Bash', { command: 'npm publish', description: 'Publish' }, 'toolu_1')),
      says('Not from here.'),
    ],
  },
  { page: 'settings.md', words: ['model = "haiku"', '.claude/settings.json:3'] },
  { page: 'output-styles.md', words: ['Answer like a telegram'] },
  { page: 'mcp.md', words: ['clock (project)', 'approv'] },
  { page: 'plan-mode.md', words: ['Plan mode is on'] },
  { page: 'worktrees.md', words: ['project-worktrees/parser'] },
];

test.each(someOf(EXAMPLES, 2))(
  'the example of docs/$page works as it is written',
  async ({ page, words, turns = () => says('Fine.') }) => {
    const blocks = blocksOf(page);
    await using project = await createTempProject();
    for (const { name, text } of blocks) {
      if (name === 'run') continue;
      const path = await project.write(name, text);
      if (name.endsWith('.sh')) await chmod(path, 0o755);
    }
    await project.initGit();
    await runHere(project, ['trust']);
    await using api = await startApiServer({ turns });
    const [line = ''] = blocks.filter(({ name }) => name === 'run').map(({ text }) => text.trim());
    const { code, stdout, stderr } = await runHere(project, wordsOf(line), api.url);
    expect(code, stderr).toBe(0);
    const seen = `${stdout}${api.requests().map(({ raw }) => raw)}`;
    for (const each of words) expect(seen).toContain(each);
  },
);

test('every page is linked from the index', () => {
  const index = read('README.md');
  const pages = readdirSync(DOCS).filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(pages.filter((page) => !index.includes(`(${page})`))).toEqual([]);
});

test('every relative link of a page leads to a file and a heading', () => {
  const broken = filesOf('.', 'docs', 'packages', '.claude', '.github')
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\]\((?![a-z]+:|<)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
        .filter(([, target = '', heading]) => {
          const file = target === '' ? join(ROOT, path) : join(ROOT, dirname(path), target);
          return !existsSync(file) || (heading !== undefined && !anchorsOf(file).includes(heading));
        })
        .map(([link]) => `${path}: ${link}`),
    );
  expect(broken).toEqual([]);
});

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(file: string): readonly string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every path of the repository that a page names exists', () => {
  const missing = filesOf('.', 'docs', 'packages', '.claude')
    .filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md')
    .flatMap((path) =>
      [
        ...readFileSync(join(ROOT, path), 'utf8').matchAll(
          /`((?:src|test|bin|bench|docs|packages)\/(?!fixtures\/|coding-agent\/)[\w./-]+)`/g,
        ),
      ]
        .map(([, target = '']) => target)
        // The page of a package names paths of the package.
        .filter((target) => !existsSync(join(ROOT, target)) && !existsSync(join(ROOT, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
  expect(missing).toEqual([]);
});

test('the page about the first files to read links twenty of them, in order', () => {
  const items = [...read('reading.md').matchAll(/^(\d+)\. \[(\S+)\]\(\.\.\/(\S+)\): \S/gm)];
  expect(items.map(([, number]) => Number(number))).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(items.filter(([, , name, target]) => name !== target)).toEqual([]);
});

test('every decision that a page or a comment names exists', () => {
  const decisions = readdirSync(join(DOCS, 'decisions')).map((name) => Number(name.slice(0, 4)));
  const missing = filesOf('.', 'docs', 'packages', '.claude', 'src', 'test', 'bin', 'bench').flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\b(?:decision |docs\/decisions\/)(0\d{3}|[1-9]\d*)\b/g)]
      .filter(([, number]) => !decisions.includes(Number(number)))
      .map(([name]) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

/** The text files of the repository in folders, those at its top for `.`; without data of tests and what is installed. */
function filesOf(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
      .map((path) => (folder === '.' ? path : `${folder}/${path}`))
      .filter((path) => /\.(?:md|[cm]?[jt]sx?)$/.test(path) && !/(?:node_modules|dist|fixtures)\//.test(path)),
  );
}

/** The words of a line as a shell would split it, without the program. */
function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  return words.map(([, double, single, plain]) => double ?? single ?? plain ?? '').slice(1);
}
