import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STUB } from '../mcp/servers.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, type Script, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER, startOuro } from '../support/run-ouro.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const NODE = { env: { PATH: process.env.PATH ?? '' } };
const EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'SessionStart',
  'SessionEnd',
] as const;

/** Every hook writes what it hears to a file of its own. */
const hooks = Object.fromEntries(
  EVENTS.map((event) => [event, [{ hooks: [{ type: 'command', command: `cat >> heard-${event}.jsonl` }] }]]),
);

/** A project as people have them, with everything ouro reads. */
const FILES = {
  'CLAUDE.md': 'Speak of herons.\n\n@docs/rules.md\n',
  'AGENTS.md': 'Count to seven.\n',
  'docs/rules.md': 'Never touch the mill.\n',
  '.claude/settings.json': JSON.stringify({
    permissions: { allow: ['Bash(echo:*)'], deny: ['Read(secret.txt)'] },
    hooks,
    env: { APP_FROM_SETTINGS: 'set-by-project' },
  }),
  '.claude/commands/git/ship.md':
    '---\ndescription: Ship it\nallowed-tools: Bash(echo:*)\n---\nShip $0 now. Branch: !`echo the-$1-branch`\n\nSee @docs/rules.md\n',
  '.claude/skills/weave/SKILL.md': '---\nname: weave\ndescription: How to weave baskets\n---\nTake willow, not oak.\n',
  '.claude/agents/scout.md':
    '---\nname: scout\ndescription: Scouts ahead\ntools: Read\n---\nYou are the scout of herons.\n',
  '.claude/output-styles/terse.md': '---\nname: terse\ndescription: Few words\n---\nAnswer in four words.\n',
  '.claude/rules/api.md': '---\npaths: ["src/api/**"]\n---\nThe API speaks French.\n',
  '.mcp.json': JSON.stringify({ mcpServers: { every: STUB } }),
  'src/api/index.ts': 'export const api = 1;\n',
  'secret.txt': 'the moon is hollow\n',
};

let project: TempProject;
beforeAll(async () => {
  project = await createTempProject(FILES);
});
afterAll(() => project.remove());

async function ask(prompt: string, turns: Script['turns'], ...args: readonly string[]) {
  await using api: ApiServer = await startApiServer({ turns });
  const { code, stdout, stderr } = await runHere(project, ['-p', prompt, ...args], api.url, NODE);
  return { code, stdout, stderr, requests: api.requests().map(({ raw }) => raw) };
}

test('before it is trusted, a project is only readable text', async () => {
  const { code, requests, stderr } = await ask('hello', [says('Hi.')]);
  const [first = ''] = requests;
  expect(code).toBe(0);
  const reported =
    'its instructions are not read (CLAUDE.md, AGENTS.md, .claude/rules/api.md). Run "ouro trust" to trust it, or pass --trust for one run.';
  expect(stderr.split(reported)).toHaveLength(2);
  for (const words of ['Speak of herons', 'Count to seven', 'weave baskets', 'Scouts ahead', 'mcp__every']) {
    expect(first).not.toContain(words);
  }
  await expect(project.read('heard-SessionStart.jsonl')).rejects.toThrow('ENOENT');
});

test('after trust everything is read: memory, rules, commands, skills, agents, hooks, servers', async () => {
  await runHere(project, ['trust'], undefined, NODE);
  await runHere(project, ['mcp', 'approve', 'every'], undefined, NODE);
  const turns: Script['turns'] = [
    calls(
      toolUse('Read', { file_path: `${project.dir}/src/api/index.ts` }, 'toolu_1'),
      toolUse('Read', { file_path: `${project.dir}/secret.txt` }, 'toolu_2'),
      toolUse('Bash', { command: 'echo "$APP_FROM_SETTINGS"', description: 'Say it' }, 'toolu_3'),
      toolUse('Skill', { name: 'weave' }, 'toolu_4'),
      toolUse('Bash', { command: 'echo no; false', description: 'Fail' }, 'toolu_5'),
    ),
    calls(toolUse('Task', { description: 'Look', prompt: 'Look ahead', subagent_type: 'scout' }, 'toolu_6')),
    says('Herons ahead.'),
    says('All done.'),
  ];
  const { code, stdout, requests } = await ask('hello', turns, '--allowedTools', 'Bash', 'Skill', 'Task');
  expect([code, stdout]).toEqual([0, 'All done.\n']);
  const [first = '', second = '', scout = '', last = ''] = requests;
  for (const words of [
    'Speak of herons',
    'Never touch the mill',
    'Count to seven',
    'How to weave baskets',
    'Scouts ahead',
  ]) {
    expect(first, words).toContain(words);
  }
  expect(first).toContain('mcp__every__echo');
  expect(first).not.toContain('speaks French');
  expect(second).toContain('The API speaks French');
  expect(second).not.toContain('the moon is hollow');
  expect(second).toContain('set-by-project');
  expect(second).toContain('Take willow');
  expect(scout).toContain('scout of herons');
  expect(last).toContain('Herons ahead.');
});

test.each(EVENTS)('the hook of %s received its event', async (event) => {
  const lines = (await project.read(`heard-${event}.jsonl`)).trim().split('\n');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    hook_event_name: event,
    session_id: expect.any(String),
    transcript_path: expect.stringContaining('.jsonl'),
    cwd: project.dir,
  });
});

test('a project command takes its arguments, runs its shell line and attaches its file', async () => {
  const { requests } = await ask('/git:ship today main', [says('Shipped.')]);
  expect(requests[0]).toContain('Ship today now. Branch: the-main-branch');
  expect(requests[0]).toContain('Never touch the mill');
});

longTest('an output style is selected in the settings', async () => {
  const { requests } = await ask('hello', [says('Hi.')], '--settings', '{"outputStyle":"terse"}');
  expect(requests[0]).toContain('Answer in four words.');
});

longTest('project deny rules apply to every tool', async () => {
  const { requests, stdout } = await ask(
    'tell',
    [calls(toolUse('Bash', { command: 'cat secret.txt', description: 'Look' }, 'toolu_1')), says('I could not.')],
    '--output-format',
    'json',
    '--allowedTools',
    'Bash',
  );
  expect(requests[1]).not.toContain('the moon is hollow');
  expect(JSON.parse(stdout)).toMatchObject({ permission_denials: [{ tool_name: 'Bash' }] });
});

longTest('a malformed file is reported with its location, and the rest still loads', async () => {
  await project.write('.claude/agents/broken.md', '---\nname: broken\ndescription: [open\n---\nNo.\n');
  const { stderr, requests } = await ask('hello', [says('Hi.')]);
  expect(stderr).toMatch(/broken\.md:\d+/);
  expect(requests[0]).toContain('Scouts ahead');
});

longTest('changes during a session apply from the next prompt on', async () => {
  await using api = await startApiServer({ turns: () => says('Fine.') });
  const args = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  await using running = startOuro(project, args, api.url, { ...NODE, stdin: 'open' });
  const say = (words: string) => running.sendLine({ type: 'user', message: { role: 'user', content: words } });
  say('one');
  await running.waitForOutput(/"type":"result"/);
  await project.write('.claude/skills/spin/SKILL.md', '---\nname: spin\ndescription: How to spin wool\n---\nSlowly.\n');
  const submit = [{ hooks: [{ type: 'command', command: 'echo The wind turns.' }] }];
  const mcpServers = { more: STUB };
  await project.write(
    '../home/.ouro/settings.json',
    JSON.stringify({ hooks: { UserPromptSubmit: submit }, mcpServers }),
  );
  say('two');
  const { raw } = await api.waitForRequest(2);
  for (const words of ['How to spin wool', 'The wind turns.', 'mcp__more__echo']) expect(raw).toContain(words);
  await running.waitForOutput(/("type":"result"[\s\S]*){2}/);
  // Half a file, as a merge may leave it, switches no hook off.
  await project.write('../home/.ouro/settings.json', '<<<<<<< HEAD\n{"model": "opus"');
  say('three');
  expect((await api.waitForRequest(3)).raw.match(/The wind turns\./g)).toHaveLength(2);
  await running.waitForOutput(/The previous settings stay in effect until this is fixed\./);
});

const DEEP = '['.repeat(60_000);
/** Names that stand for names: ten to the ninth of them, were they ever written out. */
const BOMB = ['a: &a [x,x,x,x,x,x,x,x,x,x]', ...[...'bcdefghi'].map(bombLine)].join('\n');

function bombLine(name: string, at: number): string {
  const inner = 'abcdefgh'[at];
  return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${inner}`).join(',')}]`;
}

longTest('a project with pipes, devices and endless depth delays no start, trusted or not', async () => {
  await using project = await createTempProject({
    '.claude/settings.local.json': `{"hooks": ${DEEP}`,
    '.claude/commands/deep.md': `---\na: ${DEEP.slice(0, 2_000)}\n---\nDeep.`,
    '.claude/commands/bomb.md': `---\n${BOMB}\ndescription: *i\n---\nBomb.`,
    '.claude/commands/good.md': 'Good.',
    '.claude/skills/pipe/readme.txt': '',
    '.claude/skills/huge/SKILL.md': '',
    '.mcp.json': `{"mcpServers": ${DEEP}`,
  });
  await using api = await startApiServer({ turns: () => says('Fine.') });
  const pipes = ['.claude/settings.json', '.claude/commands/pipe.md', '.claude/skills/pipe/SKILL.md', 'CLAUDE.md'];
  await promisify(execFile)(
    'mkfifo',
    pipes.map((name) => join(project.dir, name)),
  );
  await symlink('/dev/zero', join(project.dir, '.claude/commands/zero.md'));
  await writeFile(join(project.dir, '.claude/skills/huge/SKILL.md'), Buffer.alloc(9_000_000, 'x'));
  const ask = () => runHere(project, ['-p', '/good'], api.url);
  expect(await ask()).toMatchObject({ stderr: expect.stringContaining('settings.json could not be read: it is not') });
  await runHere(project, ['trust']);
  const trusted = await ask();
  expect(trusted).toMatchObject({ code: 0, stdout: 'Fine.\n' });
  expect(trusted.stderr).toContain('.mcp.json: is not valid JSON');
  expect(trusted.stderr).toContain('deep.md');
  expect(api.requests().at(-1)?.raw).toContain('Good.');
});

longTest('settings may come from a process substitution, and server files may have comments', async () => {
  await using project = await createTempProject({ '.mcp.json': '{\n  // ours\n  "mcpServers": {},\n}' });
  const line = `"$0" -p hi --model demo --settings <(echo '{"theme": 7}') < /dev/null`;
  const env = { PATH: '/usr/bin:/bin', HOME: project.home };
  await runHere(project, ['trust']);
  expect(await runHere(project, ['mcp', 'list'])).toMatchObject({ code: 0, stderr: '' });
  const { stderr } = await promisify(execFile)('bash', ['-c', line, LAUNCHER], { cwd: project.dir, env });
  expect(stderr).toMatch(/^\/dev\/fd\/\d+:1 "theme"/);
});
