import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findImportOffer } from '@ouro-cli/ouro/configuration';
import { expect, test } from 'vitest';
import { runHere } from '../../../test/support/run-here.ts';
import { createTempFolder } from '../../../test/support/temp-folder.ts';
import { createTempProject } from '../../../test/support/temp-project.ts';

const SETTINGS = {
  $schema: 'https://example.com/settings.json',
  model: 'gpt-x',
  includeCoAuthoredBy: false,
  theme: 'light',
  env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/gate', ANTHROPIC_AUTH_TOKEN: 'secret-token', TEAM: 'core' },
  permissions: { allow: ['Bash(ls:*)'], defaultMode: 'bypassPermissions' },
  hooks: { Stop: [{ hooks: [{ type: 'pigeon', letter: 'x' }] }] },
};
const SERVER = { command: 'never-started', args: ['--yes'] };

test('~/.claude is imported on request, without invalid and risky parts, and replaces nothing', async () => {
  await using project = await createTempProject({
    '../home/.claude/settings.json': JSON.stringify(SETTINGS, null, 1),
    '../home/.claude.json': JSON.stringify({ mcpServers: { notes: SERVER }, history: ['secret'] }),
    '../home/.claude/CLAUDE.md': 'Be kind.\n',
    '../home/.claude/commands/git/tidy.md': 'Tidy up.\n',
    '../home/.claude/agents/critic.md': 'theirs\n',
    '../home/.ouro/agents/critic.md': 'mine\n',
    '../home/.ouro/settings.json': '{\n  // mine\n  "theme": "dark"\n}\n',
    '../home/elsewhere/SKILL.md': '---\nname: dig\n---\nDig.\n',
    '../home/elsewhere/.git/config': 'no\n',
  });
  await mkdir(join(project.home, '.claude/skills'));
  await symlink(join(project.home, 'elsewhere'), join(project.home, '.claude/skills/dig'));
  await symlink(join(project.home, 'not-there'), join(project.home, '.claude/skills/gone'));
  expect(await findImportOffer(project)).toMatchObject({
    holds: ['settings', 'CLAUDE.md', 'commands', 'skills', 'agents'],
  });

  const end = await runHere(project, ['settings', 'import']);
  const from = join(project.home, '.claude');
  expect(end).toMatchObject({
    code: 0,
    stdout: `Copied from ${from}: settings (hooks, mcpServers, baseUrl, env, permissions), CLAUDE.md, commands (git), skills (dig).\n`,
  });
  for (const words of [
    `${from}/settings.json:4 has an unknown key "includeCoAuthoredBy"`,
    '"hooks.Stop.0.hooks.0.type": Invalid',
    'model: "gpt-x" is unknown to ouro',
    'set bypassPermissions yourself',
    'env.ANTHROPIC_AUTH_TOKEN: a key.',
    'theme: you have one already',
    'skills/gone could not be copied',
    'agents/critic.md: you have one already',
  ]) {
    expect(end.stderr).toContain(words);
  }
  expect(`${end.stdout}${end.stderr}`).not.toMatch(/secret/);
  const own = (name: string) => readFile(join(project.ouroHome, name), 'utf8');
  const written = await own('settings.json');
  expect(written).toContain('// mine');
  expect(JSON.parse(written.replace('// mine', ''))).toEqual({
    theme: 'dark',
    hooks: { Stop: [{ hooks: [] }] },
    mcpServers: { notes: SERVER },
    baseUrl: 'http://127.0.0.1:9/gate',
    env: { TEAM: 'core' },
    permissions: { allow: ['Bash(ls:*)'] },
  });
  expect(await own('commands/git/tidy.md')).toBe('Tidy up.\n');
  expect(await own('skills/dig/SKILL.md')).toContain('Dig.');
  await expect(own('skills/dig/.git/config')).rejects.toThrow();
  expect(await own('agents/critic.md')).toBe('mine\n');
  expect(await findImportOffer(project)).toBeUndefined();
  // An answer that cannot be read any more is asked for again; one that a newer version wrote is not.
  await writeFile(join(project.ouroHome, 'taken-over.json'), '\0\0');
  expect(await findImportOffer(project)).toBeDefined();
  await writeFile(join(project.ouroHome, 'taken-over.json'), '{"v":2}');
  expect(await findImportOffer(project)).toBeUndefined();
});

test('imports of CLAUDE.md are copied, and imports from elsewhere still resolve', async () => {
  const parent = join(createTempFolder(), 'a b');
  await mkdir(parent);
  const files = {
    '../home/.claude/CLAUDE.md':
      'See @docs/style.md, @../notes.md. and `@code.md`.\n@settings.json @gone.md @mine.md\n',
    '../home/.claude/docs/style.md': 'Tabs. @./more.md @../CLAUDE.md\n',
    '../home/.claude/docs/more.md': 'Many.\n',
    '../home/.claude/code.md': 'no\n',
    '../home/.claude/mine.md': 'theirs\n',
    '../home/.claude/settings.json': '{"permissions":{"defaultMode":"bypassPermissions"}}',
    '../home/notes.md': 'Notes.\n',
  };
  await using project = await createTempProject(files, parent);
  const ouroHome = join(project.home, 'deep/down');
  await mkdir(ouroHome, { recursive: true });
  await writeFile(join(ouroHome, 'mine.md'), 'mine\n');
  const end = await runHere(project, ['settings', 'import'], undefined, { env: { OURO_HOME: ouroHome } });
  expect(end.stdout).toContain('CLAUDE.md, docs/style.md, docs/more.md');
  expect(end.stderr).toContain('mine.md: you have one already');
  const own = (name: string) => readFile(join(ouroHome, name), 'utf8');
  const from = (name: string) => join(project.home, name).replaceAll(' ', '\\ ');
  expect(await own('CLAUDE.md')).toBe(
    `See @docs/style.md, @${from('notes.md')}. and \`@code.md\`.\n@${from('.claude/settings.json')} @gone.md @mine.md\n`,
  );
  expect([await own('docs/style.md'), await own('docs/more.md')]).toEqual([
    'Tabs. @./more.md @../CLAUDE.md\n',
    'Many.\n',
  ]);
  expect(await readdir(ouroHome)).not.toContain('code.md');
});

test('broken files are reported, and unreadable settings are not written to', async () => {
  await using project = await createTempProject({
    '../home/.claude/settings.json': '{"theme": "light", ',
    '../home/.claude.json': '{"mcpServers": ',
    '../home/.ouro/settings.json': '{"model": ',
  });
  const broken = await runHere(project, ['settings', 'import']);
  expect(broken.stdout).toContain('Nothing was copied');
  expect(broken.stderr).toMatch(/\.ouro\/settings\.json is not valid.*Repair it, then import again/);
  expect(await readFile(join(project.ouroHome, 'settings.json'), 'utf8')).toBe('{"model": ');
  const nowhere = await runHere(project, ['settings', 'import'], undefined, { env: { OURO_HOME: '/dev/null/x' } });
  expect(nowhere).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^System error: ENOTDIR.*its permissions/),
  });
  const absent = await runHere(project, ['settings', 'import', 'nowhere']);
  expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining('does not exist') });
});
