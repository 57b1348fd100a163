import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMPATIBILITY_ALIASES, FOREIGN_COMMAND_HINTS } from '../../../src/app/commands/compatibility-commands.ts';
import { runCommandOrExpandPrompt } from '../../../src/cli/modes/resolve-user-input.ts';
import { formatMarkdownTable } from '../../../src/lib/text/markdown.ts';
import { says } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { createTempProject } from '../../support/temp-project.ts';

/** Commands that people type in Claude Code, Codex, Gemini CLI, opencode and aider. */
const TYPED = `about add add-dir agents approvals ask auth branch btw bug chat clear commit compact compress config
  connect context continue copy cost details diff directory docs doctor drop editor effort exit export extensions fast
  feedback fork help hooks ide import init install-github-app login logout ls mcp memory mention model models new
  output-style permissions plan plugin pr-comments privacy-settings ps quit redo release-notes rename resume restore
  review rewind run sandbox security-review sessions settings share skills stats status statusline stop tasks
  terminal-setup theme thinking todos tokens tools undo unshare upgrade usage vim voice web`.split(/\s+/);

test('commands of other assistants work or name the equivalent, and are never sent to the model', async () => {
  await using project = await createTempProject();
  await using api = await startApiServer({ turns: () => says('Yes.') });
  const { conversation, close } = await composed(project, api.url);
  expect(TYPED.filter((name) => !conversation.isKnownCommand(name))).toEqual([]);
  for (const name of ['pr-comments 12', 'add src/a.ts', 'terminal-setup', 'approvals', 'models', 'stats']) {
    expect(await runCommandOrExpandPrompt(conversation, `/${name}`)).toMatchObject({
      kind: 'answer',
      text: expect.stringMatching(/\w/),
    });
  }
  // A path is not a command.
  expect(await runCommandOrExpandPrompt(conversation, '/tmp is full')).toMatchObject({ kind: 'prompt' });
  await close();
});

test('/plan switches the mode and sends its arguments in plan mode', async () => {
  await using project = await createTempProject();
  await using api = await startApiServer({ turns: () => says('Yes.') });
  const { conversation, close } = await composed(project, api.url);
  const input = await runCommandOrExpandPrompt(conversation, '/plan fix the lexer');
  expect(input).toEqual({ kind: 'prompt', prompt: [{ type: 'text', text: 'fix the lexer' }] });
  expect(conversation.info().mode).toBe('plan');
  await close();
});

test('/add-dir adds a folder to the workspace, relative to the working folder of the shell', async () => {
  await using project = await createTempProject();
  await using api = await startApiServer({ turns: () => says('Yes.') });
  const { conversation, command, close } = await composed(project, api.url);
  await mkdir(join(project.dir, '../shared'));
  expect(await command('add-dir ../shared')).toMatch(/^Added .*shared to the workspace of this session/);
  expect(conversation.control.permissionRules().directories).toContain(join(project.dir, '../shared'));
  expect(await command('add-dir ../nowhere')).toMatch(/is not a folder/);
  await close();
});

test('/review, /security-review and /output-style do what their names say', async () => {
  await using project = await createTempProject();
  await using api = await startApiServer({ turns: () => says('Yes.') });
  const { conversation, command, close } = await composed(project, api.url);
  for (const name of ['review', 'security-review']) {
    const outcome = await conversation.runCommand(`${name} the last commit`);
    expect(outcome).toMatchObject({
      kind: 'prompt',
      blocks: [{ text: expect.stringMatching(/[Rr]eview[\s\S]*The change to review: the last commit$/) }],
      // The history shows what was typed, not the prompt.
      message: { role: 'user', command: `/${name} the last commit` },
    });
  }
  expect(await command('output-style')).toContain('- default (current)');
  expect(await command('output-style loud')).toMatch(/^Unknown output style loud\. Choose one of default, explanatory/);
  expect(await command('export session.md')).toBe('This session is empty, so there is nothing to export.');
  await close();
});

test("a command or skill of the user's own takes precedence over a familiar one", async () => {
  await using project = await createTempProject({
    '.claude/commands/review.md': 'Review my way: $ARGUMENTS',
    '.claude/skills/security-review/SKILL.md': '---\nname: security-review\ndescription: mine\n---\nLook my way.',
  });
  await using api = await startApiServer({ turns: () => says('Yes.') });
  const { conversation, close } = await composed(project, api.url);
  expect(await conversation.runCommand('review now')).toMatchObject({ blocks: [{ text: 'Review my way: now' }] });
  expect(JSON.stringify(await conversation.runCommand('security-review'))).toContain('Look my way.');
  for (const name of ['review', 'security-review'])
    expect(conversation.commands().filter((command) => command.name === name)).toHaveLength(1);
  await close();
});

const PAGE = join(import.meta.dirname, '../../../docs/migration.md');
const NAMES = /(?<=^<!-- This list is made from .*-->\n\n)[\s\S]*?(?=\n*<!-- end of names -->)/m;

test('docs/migration.md lists the names of other assistants; run this test with -u to update it', async () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(page).toMatch(NAMES);
  const rows = Object.entries(COMPATIBILITY_ALIASES).map(([name, command]) => [`\`/${name}\``, `\`/${command}\``]);
  const hints = Object.entries(FOREIGN_COMMAND_HINTS).map(([name, hint]) => [`\`/${name}\``, hint]);
  const table = formatMarkdownTable([['name', 'here'], ...rows, ...hints]).join('\n');
  await expect(page.replace(NAMES, table)).toMatchFileSnapshot(PAGE);
});
