import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect } from 'vitest';
import type { FlagTable } from '../../src/command/define-flag.ts';
import { CLI_FLAGS } from '../../src/command/flags.ts';
import { SUBCOMMANDS } from '../../src/command/subcommands.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { SHARED_CACHE } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

/** What the pages on scripts and hosts tell people to type is typed here. */
const ROOT = join(import.meta.dirname, '../..');

/** Not every machine has one; of what the pages ask it for, the id is the only thing that matters later. */
const JQ = `#!/bin/sh\nexec sed -E 's/.*"session_id":"([^"]*)".*/\\1/'\n`;

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'question.txt': 'why?', 'package.json': '{}', 'services/app/index.js': '' });
  await project.initGit();
  await project.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  const tools = join(project.home, 'bin');
  await mkdir(tools);
  await symlink(join(ROOT, 'bin/ouro'), join(tools, 'ouro'));
  await writeFile(join(tools, 'jq'), JQ);
  await chmod(join(tools, 'jq'), 0o755);
  server = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('"StructuredOutput"') ? calls(toolUse('StructuredOutput', { ports: [80] })) : says('fine'),
  });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

async function run(program: string, args: readonly string[]) {
  return promisify(execFile)(program, [...args], { cwd: project.dir, env: environment() });
}

function environment(): Record<string, string> {
  return {
    ...SHARED_CACHE,
    PATH: `${project.home}/bin:/usr/local/bin:/usr/bin:/bin`,
    HOME: project.home,
    TMPDIR: dirname(project.home),
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'sk-ant-test',
    GITHUB_BASE_REF: 'main',
  };
}

async function blocks(page: string, language: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  return [...text.matchAll(new RegExp(`^\\s*\`\`\`${language}\\n([\\s\\S]*?)^\\s*\`\`\``, 'gm'))].map(
    ([, code = '']) => code,
  );
}

longTest.each(['print-mode.md', 'github-action.md'])('every shell line of %s runs', async (page) => {
  const all = await blocks(page, 'sh');
  expect(all.length).toBeGreaterThan(0);
  for (const code of all)
    expect(await run('/bin/sh', ['-ec', `exec </dev/null\n${code}`])).toMatchObject({ stderr: '' });
  expect(
    server
      .all()
      .map(({ violation }) => violation)
      .filter((one) => one !== undefined),
  ).toEqual([]);
});

/** Lines that open the screen; they are typed in a terminal. */
const OPENS_SCREEN = /^ouro(?: demo| -c)?$/;

longTest.each([
  'quick-start.md',
  'migration.md',
  'troubleshooting.md',
  'recipes.md',
  'security-model.md',
  'comparison.md',
])('a newcomer can follow %s line by line', async (page) => {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  for (const [, language, path = '', code = ''] of text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```/gm)) {
    const line = code.replace(/#.*/, '').trim();
    if (path.startsWith('.claude/')) await project.write(path, code);
    else if (language !== 'sh' || path !== '') continue;
    else if (OPENS_SCREEN.test(line)) await openAndClose(line.split(' '));
    else await run('/bin/sh', ['-ec', `exec </dev/null\n${code}`]);
  }
});

async function openAndClose(command: readonly string[]): Promise<void> {
  const env = { ...environment(), LANG: 'C.UTF-8', TERM: 'xterm-256color' };
  await using terminal = openTerminal(command, { cwd: project.dir, env, cols: 100, rows: 40 });
  const rows = await terminal.waitForScreen((all) =>
    /Do you trust this folder|^▌ (?:Say what|typing goes)/m.test(all.join('\n')),
  );
  if (/Do you trust this folder/.test(rows.join('\n'))) terminal.press('y');
  if (command.includes('demo')) {
    await terminal.waitForText(/Run this command/);
  } else {
    await terminal.waitForText(/^▌ Say what/m);
    terminal.type('What does this project do?\r');
    await terminal.waitForText(/^fine/m);
  }
  terminal.hangUp();
  await terminal.exited;
}

longTest.each([
  'quick-start.md',
  'migration.md',
  'troubleshooting.md',
  'recipes.md',
  'security-model.md',
  'comparison.md',
  'import.md',
])('every command, flag and page that %s mentions exists', async (page) => {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const fenced = [...text.matchAll(/^```(?:sh|text)\n([\s\S]*?)^```/gm)].flatMap(([, code = '']) => code.split('\n'));
  const inline = [...text.matchAll(/`(ouro [^`]+)`/g)].map(([, line = '']) => line);
  const lines = [...fenced.filter((line) => line.startsWith('ouro ')), ...inline];
  const namesOf = (table: FlagTable) => Object.values(table).flatMap(({ syntax }) => syntax.match(/--[\w-]+/g) ?? []);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const [, word = ''] = line.split(/\s+/);
    const command = Object.entries(SUBCOMMANDS).find(([name]) => name === word)?.[1];
    if (/^[a-z]+$/.test(word) && !line.includes('"')) expect([line, command !== undefined]).toEqual([line, true]);
    const own: FlagTable = command !== undefined && 'flags' in command ? command.flags : {};
    const flags = new Set([...namesOf(CLI_FLAGS), ...namesOf(own)]);
    const used = [...line.matchAll(/(?<=\s)--[a-zA-Z][\w-]*/g)].map(([flag]) => flag);
    expect([line, used.filter((flag) => !flags.has(flag))]).toEqual([line, []]);
  }
});

longTest('the review of the GitHub Action is written to its file', async () => {
  const [workflow = ''] = await blocks('github-action.md', 'yaml');
  const step = /name: Review\n\s+env:[\s\S]*?run: \|\n([\s\S]*?)\n\s+- name: Comment/.exec(workflow)?.[1] ?? '';
  await project.write('question.txt', 'changed');
  await project.git('commit', '-qam', 'Change');
  await run('/bin/sh', ['-ec', step]);
  expect(await project.read('review.md')).toBe('fine\n');
  expect(JSON.stringify(server.requests().at(-1)?.body.messages)).toContain('+changed');
});

longTest('the example host of the SDK host page receives its answer', async () => {
  const [code = ''] = await blocks('sdk-hosts.md', 'ts');
  await symlink(join(ROOT, 'node_modules'), join(project.home, 'node_modules'));
  const file = join(project.home, 'host.ts');
  await writeFile(file, code.replace('/path/to/ouro/bin/ouro', join(ROOT, 'bin/ouro')));
  expect((await run(process.execPath, ['--no-env-file', file])).stdout).toBe('fine\n');
});
