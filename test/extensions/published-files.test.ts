import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadExtensions } from '../../src/extensions/load-extensions.ts';
import { readPlugin } from '../../src/extensions/plugins/read-plugin.ts';
import { validatePlugin } from '../../src/extensions/plugins/validate-plugin.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures/claude');
const checkFile = (path: string) => ({ ok: true, realPath: path }) as const;
const load = (...projectFolders: readonly string[]) =>
  loadExtensions({ projectFolders, agentsFlag: undefined, checkFile });

test('files with every published field load without a warning, each field with its meaning', async () => {
  const found = await load(join(FIXTURES, 'project'));
  expect(found.problems).toEqual([]);
  expect(found.agents[0]).toMatchObject({
    name: 'reviewer',
    tools: ['Read', 'Grep', 'Glob', 'Bash(git diff:*)', 'mcp__github'],
    disallowedTools: ['Write', 'Edit'],
    model: 'sonnet',
    effort: 'high',
    permissionMode: 'plan',
    maxTurns: 12,
    skills: ['pdf-tools'],
    mcpServers: ['github'],
    memory: 'project',
    background: true,
    isolation: 'worktree',
    color: 'purple',
    hooks: { PreToolUse: [{ matcher: 'Bash' }], Stop: [{}] },
  });
  expect(found.commands).toMatchObject([
    { name: 'git:commit', argumentHint: '[message] [--amend]', model: 'haiku', callers: 'people' },
  ]);
  expect(found.skills).toMatchObject([
    {
      name: 'pdf-tools',
      description: 'Reads and writes PDF files. Whenever a PDF is mentioned.',
      argumentNames: ['file', 'page'],
      allowedTools: ['Read', 'Bash(pdftotext:*)'],
      deniedTools: ['Write'],
      forkAgentType: 'reviewer',
      callers: 'all',
      paths: ['**/*.pdf'],
      hooks: { PostToolUse: [{ matcher: 'Bash' }] },
    },
  ]);
  expect(found.styles[0]).toMatchObject({ name: 'Terse', text: 'Answer in one sentence.' });
});

test('a marketplace with a source of each kind is valid, and so is a plugin with a part of each kind', async () => {
  const folder = join(FIXTURES, 'market');
  expect(await validatePlugin(folder)).toEqual([]);
  const root = join(folder, 'plugins/kit');
  const read = await readPlugin(root);
  if (!read.ok) throw new Error(read.problem);
  expect(read.plugin).toMatchObject({ unsupported: [], mcpServers: { docs: { command: join(root, 'server') } } });
  expect(Object.keys(read.plugin.hooks)).toEqual(['SessionStart']);
  const found = await loadExtensions({ projectFolders: [], plugins: [read.plugin], agentsFlag: undefined, checkFile });
  expect(found.problems).toEqual([]);
  const names = [...found.commands, ...found.skills, ...found.agents, ...found.styles].map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['kit:ship', 'kit:tables', 'kit:critic', 'Loud']));
});

let project: TempProject;

beforeEach(async () => {
  project = await createTempProject();
});

afterEach(() => project.remove());

test.each([
  ['a blank behind the dashes', '--- \nname: x\ndescription: d\n---\t\nB', { name: 'x', prompt: 'B' }],
  [
    'ends of lines of Windows and a mark',
    '\uFEFF---\r\nname: x\r\ndescription: d\r\n---\r\nB\r\n',
    { name: 'x', prompt: 'B' },
  ],
  [
    'texts for numbers and for yes',
    '---\ndescription: 7\nmaxTurns: "5"\nbackground: "yes"\n---\nB',
    { maxTurns: 5, background: true },
  ],
  ['fields that say nothing', '---\nname:\ndescription: d\nmodel: ""\ntools:\n---\nB', { name: 'x y' }],
  [
    'a list with dashes',
    '---\ndescription: d\ntools:\n  - Read\n  - Bash(git log:*)\n---\nB',
    { tools: ['Read', 'Bash(git log:*)'] },
  ],
])('a sub-agent whose front matter has %s means what it says', async (_, text, expected) => {
  await project.write('.claude/agents/x y.md', text);
  const { agents, problems } = await load(project.dir);
  expect(problems).toEqual([]);
  expect(agents[0]).toMatchObject(expected);
});

test('unreadable and missing files are reported, one sentence each, and names with spaces can be typed', async () => {
  const skills = '.claude/skills';
  await project.write('.claude/agents/huge.md', `---\nname: huge\ndescription: h\n---\n${'x'.repeat(300_000)}`);
  await project.write('.claude/agents/knows.md', '---\ndescription: k\nskills: [PDF Tools, gone]\n---\nB');
  await project.write(`${skills}/pdf/SKILL.md`, '---\nname: PDF Tools\n---\n# Reads PDFs\n\nHow.');
  await project.write(`${skills}/empty/SKILL.md`, '---\nname: x\n---\n');
  await project.write('.claude/commands/ship it.md', 'Ship.');
  await project.write('.claude/output-styles/loud.md', '---\ndescription: l\nvolume: 11\n---\nL');
  const found = await load(project.dir);
  expect(found.skills).toMatchObject([{ name: 'PDF Tools', slashName: 'pdf', description: 'Reads PDFs' }]);
  expect(found.commands).toMatchObject([{ name: 'ship-it' }]);
  expect(found.problems.map(({ path, text }) => `${path.slice(project.dir.length)} ${text}`)).toEqual([
    '/.claude/skills/empty/SKILL.md has neither a description nor a body, so the model cannot know when to use it. It is ignored.',
    '/.claude/agents/huge.md is left out: it is larger than 250 KB.',
    '/.claude/output-styles has output styles with fields that ouro ignores: volume (loud.md).',
    '/.claude/agents/knows.md names skills that do not exist: gone. It runs without them.',
  ]);
});
