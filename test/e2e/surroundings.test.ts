import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { LAUNCHER, runOuro, startProgram } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';

/** Variables that people have in their environment for other programs. */
const ODDITIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a locale that is not installed': { LANG: 'tr_TR.UTF-8', LC_ALL: 'xx_YY.UTF-8', LANGUAGE: 'tr' },
  'a category of a locale that is not installed': { LANG: 'de_XX.UTF-8', LC_CTYPE: 'UTF-8' },
  'a Turkish locale behind the one of C': { LANG: 'tr_TR.UTF-8', LC_ALL: 'C' },
  'no locale': { LANG: '' },
  'a time zone with quarters of an hour': { TZ: 'Pacific/Chatham' },
  'keys of other vendors': {
    OPENAI_API_KEY: 'sk-nobody',
    GEMINI_API_KEY: 'nobody',
    GOOGLE_API_KEY: 'nobody',
    OPENROUTER_API_KEY: 'sk-or-nobody',
    AWS_ACCESS_KEY_ID: 'AKIANOBODY',
    AWS_SECRET_ACCESS_KEY: 'nobody',
    GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/adc.json',
  },
  'the shell of another assistant': { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SSE_PORT: '9' },
  'NODE_ENV=production': { NODE_ENV: 'production' },
  'colours for everything': { FORCE_COLOR: '3', CLICOLOR_FORCE: '1', CLICOLOR: '1', COLORTERM: 'truecolor' },
  'colours for nothing': { NO_COLOR: '1', TERM: 'dumb' },
  'a runner of CI': { CI: '1', GITHUB_ACTIONS: 'true' },
  'an editor and a pager that wait': { EDITOR: 'cat', PAGER: 'sh -c read', GIT_PAGER: 'sh -c read', LESS: '-X' },
};

const HOOK = 'echo "a hook says so" >&2; exit 2';
const SETTINGS = {
  hooks: { PostToolUse: [{ matcher: 'Write', hooks: [{ type: 'command', command: HOOK }] }] },
};
const COMMANDS = [
  'git status --short --branch; git log --format=%s; git diff',
  'ls; ls nowhere; grep -n beta b.txt',
  "bash -c 'echo inner'; sh -c 'echo shell'; echo error >&2",
  'env | grep -oE "^(ANTHROPIC|OPENAI|GEMINI|OPENROUTER)_API_KEY="; perl -e 1',
  'node -p "1 + 1"',
];

/** The output and the requests of a conversation, without values that differ between runs. */
async function converse(env: Readonly<Record<string, string | undefined>>) {
  await using project = await createTempProject({ 'b.txt': 'beta\n' });
  await project.initGit();
  await project.write('b.txt', 'beta\ngamma\n');
  await mkdir(project.ouroHome, { recursive: true });
  await writeFile(join(project.ouroHome, 'settings.json'), JSON.stringify(SETTINGS));
  await using api = await startApiServer({
    turns: [
      calls(...COMMANDS.map((command) => toolUse('Bash', { command }))),
      calls(toolUse('Write', { file_path: `${project.dir}/new.txt`, content: 'ı\n' })),
      calls(toolUse('Glob', { pattern: '*' }), toolUse('Grep', { pattern: 'beta' })),
      says('Finished: **İ**.'),
    ],
  });
  const args = ['-p', 'do it', '--permission-mode', 'bypassPermissions'];
  const { code, stdout, stderr } = await runOuro(project, args, api.url, { env: { IS_SANDBOX: '1', ...env } });
  const sent = api.requests().map(({ body }) => body);
  const normalize = (text: string) =>
    text
      .replaceAll(project.dir, '/project')
      .replace(/toolu_\w+/g, 'toolu')
      .replaceAll(/Date: [\d-]+/g, 'Date');
  return { code, stdout, stderr: normalize(stderr), sent: JSON.parse(normalize(JSON.stringify(sent))) };
}

let usual: Awaited<ReturnType<typeof converse>>;

beforeAll(async () => {
  usual = await converse({});
});

test.each(Object.keys(ODDITIES))('with %s, the same is sent and printed', async (name) => {
  expect(await converse(ODDITIES[name] ?? {})).toEqual(usual);
  expect(usual).toMatchObject({ code: 0, stdout: 'Finished: **İ**.\n', stderr: '' });
});

test.each([
  [0o022, { 'new.txt': 0o644, 'b.txt': 0o664, run: 0o755 }],
  [0o077, { 'new.txt': 0o600, 'b.txt': 0o664, run: 0o755 }],
])(
  'with the umask %o a new file gets the permissions of other new files, and a changed one keeps its own',
  async (umask, modes) => {
    await using project = await createTempProject({ 'b.txt': 'beta\n', run: '#!/bin/sh\n' });
    await Promise.all([chmod(join(project.dir, 'b.txt'), 0o664), chmod(join(project.dir, 'run'), 0o755)]);
    const write = (name: string) => toolUse('Write', { file_path: join(project.dir, name), content: 'new\n' });
    const read = (name: string) => toolUse('Read', { file_path: join(project.dir, name) });
    await using api = await startApiServer({
      turns: [calls(read('b.txt'), read('run')), calls(...Object.keys(modes).map(write)), says('Done.')],
    });
    const shell = ['/bin/sh', '-c', `umask ${umask.toString(8)}; exec "$0" "$@"`, LAUNCHER];
    const args = ['-p', 'do it', '--permission-mode', 'acceptEdits'];
    const { stdout } = await startProgram(project, [...shell, ...args], api.url).ended;
    const found = await Promise.all(
      Object.keys(modes).map(async (name) => [name, (await stat(join(project.dir, name))).mode & 0o777]),
    );
    expect([stdout, Object.fromEntries(found)]).toEqual(['Done.\n', modes]);
  },
);
