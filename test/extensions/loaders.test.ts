import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ExpandSlashCommandOptions, expandSlashCommand } from '../../src/extensions/expand-slash-command.ts';
import { loadAgents } from '../../src/extensions/load-agents.ts';
import { loadCommands, loadOutputStyles } from '../../src/extensions/load-extensions.ts';
import { findSkill, loadSkills } from '../../src/extensions/load-skills.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const variable = (name: string) => `\${${name}}`;

let project: TempProject;
beforeEach(async () => {
  project = await createTempProject();
});
afterEach(() => project.remove());

const folders = () => [
  { folder: join(project.dir, '.claude/x'), source: 'project' as const },
  { folder: join(project.dir, 'user/x'), source: 'user' as const },
];

test('a linked folder is followed, and a link cycle ends', async () => {
  await project.write('elsewhere/shared.md', 'Shared');
  await project.write('.claude/x/own.md', 'Own');
  await symlink(join(project.dir, 'elsewhere'), join(project.dir, '.claude/x/linked'));
  await symlink(join(project.dir, '.claude/x'), join(project.dir, 'elsewhere/back'));
  const { items } = await loadCommands(folders());
  expect(items.map(({ name }) => name)).toEqual(expect.arrayContaining(['own', 'linked:shared']));
  expect(items.length).toBeLessThan(20);
});

test('commands are found in sub-folders, with front matter, and project commands override user commands', async () => {
  await project.write(
    '.claude/x/git/ship.md',
    '---\ndescription: Ship it\nargument-hint: <tag>\nallowed-tools: Bash(git tag:*), Read\nmodel: haiku\n---\nShip $1\n',
  );
  await project.write('.claude/x/plain.md', '# Look around\nand tell');
  await project.write('user/x/plain.md', 'hidden');
  const { items, problems } = await loadCommands(folders());
  expect(items).toMatchObject([
    {
      name: 'git:ship',
      description: 'Ship it',
      argumentHint: '<tag>',
      allowedTools: ['Bash(git tag:*)', 'Read'],
      model: 'haiku',
      body: 'Ship $1\n',
    },
    { name: 'plain', description: 'Look around', source: 'project' },
  ]);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.text).toContain('is overridden by');
});

test('malformed front matter is reported with its line, and the rest still loads', async () => {
  await project.write('.claude/x/bad.md', '---\ndescription: "open\n---\nbody');
  await project.write('.claude/x/good.md', 'fine');
  await project.write('.claude/x/open.md', '---\nnever closed');
  const { items, problems } = await loadCommands(folders());
  expect(items.map(({ name, body }) => [name, body])).toEqual([
    ['bad', 'body'],
    ['good', 'fine'],
    ['open', '---\nnever closed'],
  ]);
  expect(problems.map(({ line }) => line)).toEqual([expect.any(Number), 1]);
});

test('front matter that is not valid YAML is read leniently', async () => {
  const reported = 'Use this when: tests fail. <example>user: "foo" assistant: "bar: baz"</example>';
  await project.write(
    '.claude/x/tester.md',
    `---\nname: tester\ndescription: ${reported}\ntools: *\nmodel: sonnet\n---\nTest.`,
  );
  await project.write(
    '.claude/x/lost.md',
    '---\nname: lost\ndescription: *unknown\n  and more\ntools:\n  - Read\n  - Bash(a: *)\n---\n',
  );
  const agents = await loadAgents(folders(), undefined);
  expect(agents.problems).toEqual([]);
  expect(agents.items.slice(0, 2)).toMatchObject([
    { name: 'lost', description: '*unknown and more', tools: ['Read', 'Bash(a: *)'] },
    { name: 'tester', description: reported, model: 'sonnet' },
  ]);
  expect(agents.items[1]?.tools).toBeUndefined();
  await project.write(
    '.claude/y/fix.md',
    '---\nargument-hint: [issue] [priority]\nallowed-tools: [Read, Bash(git: x)]\n---\nFix',
  );
  const { items, problems } = await loadCommands([{ folder: join(project.dir, '.claude/y'), source: 'project' }]);
  expect(problems).toEqual([]);
  expect(items.find(({ name }) => name === 'fix')).toMatchObject({
    argumentHint: '[issue] [priority]',
    allowedTools: ['Read', 'Bash(git: x)'],
  });
});

test.each([
  ['Fix $ARGUMENTS now', 'a b', 'Fix a b now'],
  ['$0 then $1 and $2.', 'one "two words"', 'one then two words and .'],
  ['$ARGUMENTS[1], not $ARGUMENTS[0]', "'a b' c", 'c, not a b'],
  ['Costs $100, $5.00 and $1,000', 'x', 'Costs $100, $5.00 and $1,000\n\nARGUMENTS: x'],
  ['\\$0 is $0', 'x', '$0 is x'],
  ['Fix $issue on $branch; $issues stay', '7 main', 'Fix 7 on main; $issues stay'],
  [`In ${variable('CLAUDE_SKILL_DIR')} and ${variable('OTHER')}`, '', `In /skills/x and ${variable('OTHER')}`],
  ['Say hi', 'loudly', 'Say hi\n\nARGUMENTS: loudly'],
  ['Status: !`git status`', '', 'Status: [sh git status]'],
  ['A=!`id`', '', 'A=!`id`'],
  ['```!\ndate\npwd\n```\nDone', '', '[sh date\npwd]\nDone'],
  ['See @src/a.ts, please', '', 'See [file src/a.ts], please'],
  ['Ask @anthropic-ai/sdk or @missing', '', 'Ask @anthropic-ai/sdk or @missing'],
  ['mail me@example.com', '', 'mail me@example.com'],
  ['```\n!`rm x` @y\n```', '', '```\n!`rm x` @y\n```'],
  ['Run !`echo $0`', 'x', 'Run [sh echo x]'],
  ['Take $ARGUMENTS', `@secret ${variable('CLAUDE_SKILL_DIR')} $0`, `Take @secret ${variable('CLAUDE_SKILL_DIR')} $0`],
])('"%s" with "%s" becomes "%s"', async (body, args, expected) => {
  const parts: ExpandSlashCommandOptions = {
    runShell: async (command: string) => `[sh ${command}]`,
    readFile: async (path: string) => (path.startsWith('src/') ? `[file ${path}]` : undefined),
    variables: { CLAUDE_SKILL_DIR: '/skills/x' },
  };
  expect(await expandSlashCommand({ body, argumentNames: ['issue', 'branch'] }, args, parts)).toBe(expected);
});

test('skills need a description or a text; problems are reported', async () => {
  await project.write(
    '.claude/x/pdf/SKILL.md',
    '---\nname: pdf-tools\ndescription: Reads PDFs\npaths:\n  - "**/*.pdf"\n---\nUse pdftotext.',
  );
  await project.write('.claude/x/mute/SKILL.md', '---\nname: mute\n---\n');
  await project.write('.claude/x/broken/SKILL.md', '---\n- a\n---\nx');
  const { items, problems } = await loadSkills(folders());
  expect(items).toMatchObject([
    { name: 'pdf-tools', description: 'Reads PDFs', paths: ['**/*.pdf'], body: 'Use pdftotext.' },
  ]);
  expect(problems).toHaveLength(2);
});

test('sub-agents come from flags, files and built-in ones, in that order of precedence', async () => {
  await project.write(
    '.claude/x/reviewer.md',
    '---\ndescription: Reviews\ntools: Read, Grep\nmodel: haiku\nmaxTurns: 5\npermissionMode: plan\n---\nYou review.',
  );
  await project.write('.claude/x/Explore.md', '---\ndescription: Ours\n---\nYou look.');
  const { items, problems } = await loadAgents(folders(), { tester: { description: 'Tests', prompt: 'You test.' } });
  expect(items.map(({ name, source }) => `${name} ${source}`)).toEqual([
    'tester flag',
    'Explore project',
    'reviewer project',
    'general-purpose builtin',
    'Plan builtin',
  ]);
  expect(items[2]).toMatchObject({
    tools: ['Read', 'Grep'],
    model: 'haiku',
    maxTurns: 5,
    permissionMode: 'plan',
    prompt: 'You review.',
  });
  expect(problems).toEqual([]);
  expect((await loadAgents([], { x: { prompt: 'y' } })).problems[0]?.text).toContain('is invalid');
});

test('output styles of the project override the built-in ones', async () => {
  await project.write('.claude/x/pirate.md', '---\nname: pirate\ndescription: Arr\n---\nSpeak like a pirate.');
  const { items } = await loadOutputStyles(folders());
  expect(items.map(({ name }) => name)).toEqual(['pirate', 'default', 'explanatory']);
});

test('missing folders are empty', async () => {
  expect(await loadCommands([{ folder: '/nowhere', source: 'user' }])).toEqual({ items: [], problems: [] });
});

test('every field of a sub-agent is used or reported, once per folder', async () => {
  await project.write(
    '.claude/x/all.md',
    `---
name: all
description: Has everything
tools: Read Grep Bash(git log *)
disallowedTools: [Write, "Bash(rm:*)"]
model: inherit
effort: high
permissionMode: plan
maxTurns: 7
skills:
  - pdf
  - tables
memory: project
background: true
isolation: worktree
mcpServers: [github]
color: cyan
glow: strong
---
All.`,
  );
  await project.write(
    '.claude/x/own.md',
    '---\ndescription: Own\nisolation: remote\nglow: 1\nbackground: false\n---\nOwn.',
  );
  const { items, problems } = await loadAgents(folders(), {
    flagged: { description: 'F', prompt: 'F', effort: 'low', odd: true },
  });
  expect(items[1]).toEqual({
    name: 'all',
    description: 'Has everything',
    prompt: 'All.',
    source: 'project',
    path: join(project.dir, '.claude/x/all.md'),
    tools: ['Read', 'Grep', 'Bash(git log *)'],
    disallowedTools: ['Write', 'Bash(rm:*)'],
    effort: 'high',
    permissionMode: 'plan',
    maxTurns: 7,
    skills: ['pdf', 'tables'],
    memory: 'project',
    background: true,
    isolation: 'worktree',
    mcpServers: ['github'],
    color: 'cyan',
  });
  expect(items[0]).toMatchObject({ name: 'flagged', effort: 'low' });
  expect(problems.map(({ text }) => text)).toEqual([
    'has sub-agents with fields that ouro ignores: odd: true (flagged).',
    'has sub-agents with fields that ouro ignores: glow: strong (all.md); isolation: remote (own.md); glow: 1 (own.md).',
  ]);
});

test('commands and skills have all front matter fields, and are found by any of their names', async () => {
  const head = `description: Ships
when_to_use: When all is green.
argument-hint: [tag] [branch]
arguments: [tag, branch]
allowed-tools: Read Bash(git tag *)
disallowed-tools: Write
model: haiku
effort: low
context: fork
agent: Explore
disable-model-invocation: true
glow: strong`;
  const fields = {
    description: 'Ships When all is green.',
    argumentNames: ['tag', 'branch'],
    allowedTools: ['Read', 'Bash(git tag *)'],
    deniedTools: ['Write'],
    model: 'haiku',
    effort: 'low',
    forkAgentType: 'Explore',
    callers: 'people',
  };
  await project.write('.claude/x/ship.md', `---\n${head}\n---\nShip it.`);
  await project.write('.claude/x/ship-it/SKILL.md', `---\nname: Ship It Now\n${head}\n---\nShip it.`);
  await project.write(
    '.claude/x/quiet/SKILL.md',
    '---\ndescription: Q\nuser-invocable: false\npaths: "**/*.sql, db/**"\n---\nQ',
  );
  const [own] = folders();
  const commands = await loadCommands(own === undefined ? [] : [own]);
  expect(commands.items.find(({ name }) => name === 'ship')).toMatchObject(fields);
  const { items, problems } = await loadSkills(folders());
  expect(items).toMatchObject([
    { name: 'quiet', callers: 'model', paths: ['**/*.sql', 'db/**'] },
    { ...fields, name: 'Ship It Now', slashName: 'ship-it', folder: join(project.dir, '.claude/x/ship-it') },
  ]);
  for (const name of ['Ship It Now', 'ship-it', 'ship it now', '/ship-it'])
    expect(findSkill(items, name)?.slashName).toBe('ship-it');
  expect(findSkill(items, 'ship')).toBeUndefined();
  expect(problems.map(({ text }) => text)).toEqual(['has skills with fields that ouro ignores: glow (ship-it).']);
});
