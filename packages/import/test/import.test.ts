import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { says } from '../../../test/support/api/reply.ts';
import { type ApiServer, startApiServer } from '../../../test/support/api/server.ts';
import { composed } from '../../../test/support/composed.ts';
import { longTest } from '../../../test/support/long-test.ts';
import { runHere } from '../../../test/support/run-here.ts';
import { createTempProject, type TempProject } from '../../../test/support/temp-project.ts';

const rule = (head: string, body: string) => `---\n${head}\n---\n\n${body}\n`;

const PROJECT = {
  '.cursor/rules/always.mdc': rule('description: \nglobs: \nalwaysApply: true', 'CURSOR-ALWAYS'),
  '.cursor/rules/deep/ts.mdc': rule('globs: *.ts,src/**/*.tsx\nalwaysApply: false', 'CURSOR-TS'),
  '.cursor/rules/asked.mdc': rule('description: How to release\nalwaysApply: false', 'CURSOR-ASKED'),
  '.cursorrules': 'CURSOR-OLD\n',
  'GEMINI.md': 'GEMINI-RULES\n',
  '.github/copilot-instructions.md': 'COPILOT-ALL\n',
  '.github/instructions/py.instructions.md': rule("applyTo: '**/*.py'", 'COPILOT-PY'),
  '.clinerules/one.md': 'CLINE-RULES\n',
  '.windsurfrules': 'WINDSURF-RULES\n',
  '.kiro/steering/tech.md': rule('inclusion: fileMatch\nfileMatchPattern: "**/*.go"', 'KIRO-GO'),
  'AGENT.md': 'AMP-RULES\n',
  '.vscode/mcp.json': `{ // of the team
    "inputs": [{ "id": "token", "type": "promptString" }],
    "servers": {
      "github": { "type": "http", "url": "https://api.example.com/mcp", "headers": { "Authorization": "Bearer \${input:token}" } },
      "local": { "command": "npx", "args": ["-y", "x", "\${workspaceFolder}"], "env": { "KEY": "\${env:MY_KEY}" } },
    } }`,
  '.cursor/mcp.json': JSON.stringify({
    mcpServers: { local: { command: 'other' }, cursors: { command: 'run', args: [1] } },
  }),
  'opencode.jsonc':
    '{ "mcp": { "jira": { "type": "local", "command": ["bunx", "jira"], "environment": { "K": "{env:JIRA}" }, "enabled": false } } } // end',
  '.gemini/settings.json': JSON.stringify({ mcpServers: { events: { url: 'https://e.example/sse' } } }),
  '.cursor/commands/tidy.md': 'Tidy up $ARGUMENTS\n',
  '.github/prompts/explain.prompt.md': rule('mode: agent\ndescription: Explain it', `Explain \${input:what:the thing}`),
  '.gemini/commands/fix.toml': 'description = "Fix it"\nprompt = """\nFix {{args}} with !{git diff} and @{a.md}\n"""\n',
};

const HOME = {
  '../home/.codex/config.toml':
    'model = "gpt-6"\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["docs"]\n[mcp_servers.docs.env]\nTOKEN = "secret-value"\n[mcp_servers.web]\nurl = "https://w.example/mcp"\nbearer_token_env_var = "WEB_TOKEN"\n',
  '../home/.codex/AGENTS.md': 'CODEX-HOME\n',
  '../home/.codex/prompts/draft.md': 'Draft $1\n',
};

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ ...PROJECT, ...HOME });
  await project.initGit();
  server = await startApiServer({ turns: () => says('Done.') });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

const json = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

test('a dry run names everything with what is lost, shows no value, and changes nothing', async () => {
  const { code, stdout } = await runHere(project, ['import']);
  expect(code).toBe(0);
  for (const line of [
    'Cursor: instructions .cursor/rules/**/*.mdc (3 files), read where they are',
    '    not imported: asked.mdc applies only when it is named: mention it with @',
    'Gemini CLI: instructions GEMINI.md (1 file), read where they are',
    'Codex: instructions ~/.codex/AGENTS.md (1 file), read where they are',
    'VS Code: MCP server github of .vscode/mcp.json: https://api.example.com/mcp',
    '    not imported: the value of the input token: set it in the entry',
    'not imported: server local of .cursor/mcp.json: you have one already',
    'GitHub Copilot: command /explain of .github/prompts/explain.prompt.md',
    '    not imported: mode',
    'Nothing was changed. "ouro import --yes" imports it.',
  ])
    expect(stdout.split('\n')).toContain(line);
  expect(stdout).not.toContain('secret-value');
  expect(await project.git('status', '--porcelain')).toBe('');
});

test('what is taken is read, started and run by the next session', async () => {
  const { code, stderr } = await runHere(project, ['import', '--yes']);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'not imported: server local of .cursor/mcp.json: you have one already\n',
  });
  const local = await json(join(project.dir, '.claude/settings.local.json'));
  expect(local.instructionFiles).toEqual([
    '.cursor/rules/**/*.mdc',
    '.cursorrules',
    'GEMINI.md',
    '.github/copilot-instructions.md',
    '.github/instructions/**/*.instructions.md',
    '.clinerules/*.md',
    '.windsurfrules',
    '.kiro/steering/**/*.md',
    'AGENT.md',
  ]);
  expect(local.mcpServers).toEqual({
    github: {
      type: 'http',
      url: 'https://api.example.com/mcp',
      headers: { Authorization: `Bearer \${input:token}` },
    },
    local: { command: 'npx', args: ['-y', 'x', '.'], env: { KEY: `\${MY_KEY}` } },
    cursors: { command: 'run', args: ['1'] },
    jira: { command: 'bunx', args: ['jira'], env: { K: `\${JIRA}` }, disabled: true },
    events: { type: 'sse', url: 'https://e.example/sse' },
  });
  expect(await json(join(project.ouroHome, 'settings.json'))).toEqual({
    instructionFiles: ['~/.codex/AGENTS.md'],
    mcpServers: {
      docs: { command: 'npx', args: ['docs'], env: { TOKEN: 'secret-value' } },
      web: { type: 'http', url: 'https://w.example/mcp', headers: { Authorization: `Bearer \${WEB_TOKEN}` } },
    },
  });
  expect(await project.read('.claude/commands/fix.md')).toBe(
    '---\ndescription: "Fix it"\n---\n\nFix $ARGUMENTS with !`git diff` and @a.md\n',
  );
  expect(await project.read('.claude/commands/explain.md')).toBe(
    '---\ndescription: "Explain it"\n---\n\nExplain $ARGUMENTS\n',
  );
  const again = await runHere(project, ['import', '--yes', 'instructions']);
  expect(again.stdout).toBe('Nothing to import: no files of other assistants were found here.\n');

  await project.write('src/a.py', 'pass\n');
  const flags = ['--strict-mcp-config', '--trust'];
  await runHere(project, ['-p', '/tidy the desk', ...flags], server.url);
  const first = server.requests()[0]?.raw ?? '';
  expect(first).toContain('Tidy up the desk');
  expect(marksIn(first)).toEqual([
    ...['AMP-RULES', 'CLINE-RULES', 'CODEX-HOME', 'COPILOT-ALL', 'CURSOR-ALWAYS', 'CURSOR-OLD', 'GEMINI-RULES'],
    'WINDSURF-RULES',
  ]);
  await runHere(project, ['-p', 'hi', '--strict-mcp-config'], server.url);
  expect(marksIn(server.requests().at(-1)?.raw ?? '')).toEqual(['CODEX-HOME']);
});

const marksIn = (text: string) =>
  [...new Set(text.match(/(?:AMP|CLINE|CODEX|COPILOT|CURSOR|GEMINI|KIRO|WINDSURF)-[A-Z]+/g))].toSorted();

test('a part is chosen by kind and assistant; an unknown word is refused', async () => {
  const { stdout } = await runHere(project, ['import', 'cursor', 'servers', '--yes']);
  expect(stdout).toMatch(/^Added cursors \(run 1\) to .*settings\.local\.json\.\n$/);
  const wrong = await runHere(project, ['import', 'emacs']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('"emacs" cannot be imported');
});

test('the first session in a project names what is not read, once, and /import lists and imports it', async () => {
  const open = () => composed(project, server.url, { frontend: 'screen' });
  const first = await open();
  expect(first.conversation.info().warnings).toContainEqual(
    expect.stringMatching(
      /^Files of other assistants that ouro does not read: \.cursor\/rules, \.cursorrules, .* and \d+ more\. \/import/,
    ),
  );
  expect(await first.command('import commands')).toContain('- Cursor: command /tidy of .cursor/commands/tidy.md');
  expect(await first.command('import yes commands cursor')).toContain('command /tidy (.claude/commands/tidy.md)');
  expect(first.conversation.isKnownCommand('tidy')).toBe(true);
  await first.close();
  const second = await open();
  expect(second.conversation.info().warnings.join('\n')).not.toContain('other assistants');
  await second.close();
});

longTest('settings of other assistants of which nothing can be taken are not named', async () => {
  await using other = await createTempProject();
  await other.write('../home/.codex/config.toml', 'model = "gpt-5"\n');
  await other.write('../home/.gemini/settings.json', '{"ui":{"theme":"Dark"}}');
  const one = await composed(other, server.url, { frontend: 'screen' });
  expect(one.conversation.info().warnings.join('\n')).not.toContain('other assistants');
  await one.close();
  await other.write('.gemini/settings.json', '{"mcpServers":{"notes":{"command":"notes"}}}');
  const next = await composed(other, server.url, { frontend: 'screen' });
  expect(next.conversation.info().warnings).toContainEqual(
    'Files of other assistants that ouro does not read: .gemini/settings.json. /import lists what can be imported.',
  );
  await next.close();
});

longTest('a broken file is named and nothing else is lost by it', async () => {
  await project.write('.vscode/mcp.json', '7');
  await project.write('.gemini/commands/fix.toml', 'prompt = ');
  const { code, stdout } = await runHere(project, ['import']);
  expect(code).toBe(0);
  expect(stdout).toContain('not imported: .vscode/mcp.json could not be read');
  expect(stdout).toContain('not imported: .gemini/commands/fix.toml could not be read');
  expect(stdout).toContain('command /tidy');
});

longTest(
  'files that other assistants name in their settings, commands in folders and servers of extensions are found',
  async () => {
    await project.write('docs/guide.md', 'Guide.');
    await project.write('NOTES.md', 'Notes.');
    await project.write('opencode.jsonc', '{ "instructions": ["./docs/*.md", "../out.md", "https://x/y.md"] }');
    await project.write('.gemini/settings.json', '{ "context": { "fileName": ["AGENTS.md", "NOTES.md"] } }');
    await project.write('.gemini/commands/git/ship.toml', 'prompt = "Ship it"');
    const server = { mcpServers: { ext: { command: 'node', args: [`\${extensionPath}\${/}s.js`] } } };
    await project.write('../home/.gemini/extensions/e/gemini-extension.json', JSON.stringify(server));
    const { stdout } = await runHere(project, ['import', '--yes']);
    expect(stdout).toContain('command /git:ship (.claude/commands/git/ship.md)');
    expect(stdout).toContain(`Added ext (node ${project.home}/.gemini/extensions/e/s.js)`);
    const { instructionFiles } = JSON.parse(await project.read('.claude/settings.local.json'));
    expect(instructionFiles.slice(-2)).toEqual(['docs/*.md', 'NOTES.md']);
  },
);
