import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Panel } from '../../../src/contracts/face/panel.ts';
import { SETTING_KEYS } from '../../../src/settings/keys.ts';
import { startApiServer } from '../../support/api/server.ts';
import { type Composed, composed } from '../../support/composed.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const PROJECT = {
  permissions: { deny: ['Bash(rm:*)'], allow: ['Bosh(x)'] },
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }] },
  theme: 'light',
};
const REVIEWER = '---\nname: reviewer\ndescription: reads changes\ntools: Read, Grep\n---\nRead what changed.';

let project: TempProject;
let server: Awaited<ReturnType<typeof startApiServer>>;
let made: Composed;

beforeAll(async () => {
  project = await createTempProject({
    '.claude/settings.json': JSON.stringify(PROJECT),
    '.claude/agents/reviewer.md': REVIEWER,
    'CLAUDE.md': 'Use tabs.',
  });
  server = await startApiServer({ turns: [] });
  made = await composed(project, server.url, { face: 'screen' });
});

afterAll(async () => {
  await made.close();
  await server[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

async function panel(line: string): Promise<Panel> {
  const outcome = await made.conversation.runCommand(line);
  if (outcome.kind !== 'panel') throw new Error(`/${line}: ${JSON.stringify(outcome)}`);
  return outcome.panel;
}

const rowOf = ({ rows }: Panel, id: string) => rows.find((row) => row.id === id);
const ownSettings = async () => JSON.parse(await readFile(join(project.ouroHome, 'settings.json'), 'utf8'));

test('every setting stands in /config with its value, its place, and a way to change it', async () => {
  const config = await panel('config');
  expect(config.rows.map(({ id }) => id)).toEqual(
    SETTING_KEYS.map(({ key }) => key).filter((key) => key !== '$schema'),
  );
  expect(rowOf(config, 'theme')?.cells).toEqual(['theme', 'light', 'project']);
  expect(rowOf(config, 'permissions.deny')).toMatchObject({
    cells: ['permissions.deny', 'Bash(rm:*)', 'project'],
    detail: [
      'Rules of what never runs. A change counts from the next prompt on.',
      expect.stringMatching(/settings\.json:1$/),
    ],
    acts: [{ key: 'enter', line: 'permissions' }],
  });
  expect(rowOf(config, 'notify')?.acts).toEqual([
    { kind: 'turn', label: 'changes', line: 'config set notify', values: ['auto', 'bell', 'off'], value: 'auto' },
  ]);
  expect(rowOf(config, 'maxRetries')?.acts).toEqual([
    { kind: 'write', key: 'enter', label: 'changes', line: 'config set maxRetries', words: '' },
  ]);
});

test('what is set goes into a file of one’s own, and says what holds then; what cannot hold is refused', async () => {
  expect(await made.command('config set notify bell')).toBe(
    `notify is bell from the next session on, kept in ${join(project.ouroHome, 'settings.json')}.`,
  );
  expect(await made.command('config set timeouts.bashMs 5000')).toContain(
    'timeouts.bashMs is 5000 from the next prompt',
  );
  expect(await made.command('config set autoCompact false')).toContain('autoCompact is false');
  expect(await ownSettings()).toEqual({ notify: 'bell', timeouts: { bashMs: 5000 }, autoCompact: false });
  const row = rowOf(await panel('config notify'), 'notify');
  expect(row?.cells).toEqual(['notify', 'bell', 'yours']);
  expect(row?.acts[1]).toMatchObject({ key: 'ctrl+d', line: 'config unset notify' });
  expect(await made.command('config unset notify')).toContain('notify is auto');
  for (const [line, words] of [
    ['config set notify loud', 'notify'],
    ['config set maxRetries many', 'maxRetries'],
    ['config set maxRetries -1', 'maxRetries'],
    ['config set hooks x', 'more than one line can say'],
    ['config set notfy off', 'Did you mean notify?'],
    ['config set', 'Say /config set'],
    ['config nothing', 'There is no setting nothing'],
  ] as const) {
    expect((await made.conversation.runCommand(line)).kind, line).toBe('failed');
    expect(await made.command(line), line).toContain(words);
  }
  expect(await ownSettings()).toEqual({ timeouts: { bashMs: 5000 }, autoCompact: false });
});

test('a value of the project is changed beside it, for oneself alone', async () => {
  expect(await made.command('config set theme dark')).toContain('settings.local.json');
  expect(rowOf(await panel('settings theme'), 'theme')?.cells).toEqual(['theme', 'dark', 'yours, here']);
  expect(JSON.parse(await project.read('.claude/settings.json'))).toEqual(PROJECT);
  expect(await made.command('config unset theme')).toContain('theme is light');
});

test('rules are added, tested and forgotten where they stand', async () => {
  const rules = await panel('permissions');
  expect(rules.note).toContain('mode default');
  expect(rowOf(rules, 'project allow Bosh(x)')).toMatchObject({
    mark: 'bad',
    detail: ['Bosh(x)', expect.stringContaining('no tool')],
  });
  expect(await made.command('permissions allow user Bash(make:*)')).toBe(
    'From now on: allow Bash(make:*), for you everywhere.',
  );
  expect((await ownSettings()).permissions).toEqual({ allow: ['Bash(make:*)'] });
  expect(await made.command('permissions test make all')).toMatch(/^allow/);
  expect(await made.command('permissions test rm -rf x')).toMatch(/^deny/);
  expect(await made.command('permissions test Read src/a.ts')).toMatch(/^allow/);
  const added = rowOf(await panel('permissions'), 'user allow Bash(make:*)');
  const [forget] = added?.acts ?? [];
  expect(forget).toMatchObject({ key: 'ctrl+d', line: 'permissions forget user Bash(make:*)' });
  expect(await made.command('permissions forget Bash(make:*)')).toContain('Say /permissions forget user Bash(make:*)');
  expect(await made.command(forget?.line ?? '')).toBe('Forgotten: Bash(make:*).');
  expect(await made.command('permissions test make all')).toMatch(/^ask/);
});

test('the instruction files are a list; each can be read, and edited where it is the own', async () => {
  const memory = await panel('memory');
  const [first] = memory.rows;
  expect(first).toMatchObject({
    cells: ['CLAUDE.md', 'project', '9 characters'],
    acts: [
      { key: 'enter', line: 'memory 1' },
      { key: 'ctrl+e', line: 'memory edit 1' },
    ],
  });
  expect(await made.command('memory 1')).toContain('Use tabs.');
  expect(await made.conversation.runCommand('memory edit 1')).toMatchObject({ kind: 'open', view: 'edit_file' });
  expect(await made.command('memory 9')).toContain('no instruction file 9');
});

test('hooks, sub-agents, the window, models and efforts are lists with what stands behind each row', async () => {
  const hooks = await panel('hooks');
  expect(hooks.rows[0]?.cells).toEqual(['PreToolUse', 'Bash', 'true', 'has not run']);
  expect(await made.command('hooks 1')).toMatch(/runs +true\nstands in +\S+settings\.json:1/);
  const agents = await panel('agents');
  expect(rowOf(agents, 'reviewer')).toMatchObject({ detail: ['reads changes', 'Read, Grep'] });
  expect(await made.command('agents reviewer')).toContain('Read what changed.');
  expect((await panel('context')).rows.at(0)?.share).toBeGreaterThan(0);
  const models = await panel('model');
  expect(models.rows.filter(({ mark }) => mark === 'current').map(({ id }) => id)).toEqual(['claude-sonnet-5-5']);
  expect(models.acts[0]).toMatchObject({ kind: 'turn', line: 'effort', value: 'auto' });
  expect(await made.command('effort high')).toBe('Effort: high.');
  expect((await panel('effort')).rows.find(({ mark }) => mark === 'current')?.id).toBe('high');
  expect(await panel('mcp')).toMatchObject({ rows: [], empty: expect.stringContaining('ouro mcp add') });
  expect(await panel('bashes')).toMatchObject({ rows: [], line: 'ps' });
});

test('a script for the status line counts at once, is told what scripts of Claude Code expect, and may say several lines', async () => {
  const file = join(project.dir, 'facts.json');
  expect(await made.command(`statusline cat > '${file}'; echo one; echo two; echo three; echo four`)).toContain(
    'says:',
  );
  expect(await made.conversation.statusLine?.()).toBe('one\ntwo\nthree');
  const { sessionId, transcriptPath } = made.conversation.info();
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    hook_event_name: 'Status',
    session_id: sessionId,
    transcript_path: transcriptPath,
    cwd: project.dir,
    model: { id: 'claude-sonnet-5-5', display_name: 'sonnet 5.5' },
    workspace: { current_dir: project.dir, project_dir: project.dir, added_dirs: [] },
    version: expect.stringMatching(/^\d+\./),
    output_style: { name: 'default' },
    cost: {
      total_cost_usd: 0,
      total_duration_ms: expect.any(Number),
      total_api_duration_ms: 0,
      total_lines_added: 0,
      total_lines_removed: 0,
    },
    context_window: {
      context_window_size: 1_000_000,
      total_input_tokens: 0,
      total_output_tokens: 0,
      used_percentage: 0,
      remaining_percentage: 100,
    },
    exceeds_200k_tokens: false,
  });
  expect(await made.command('statusline off')).toBe('The status line is ours again.');
  expect(await made.conversation.statusLine?.()).toBeUndefined();
});

test('/export asks as what and where to, before it writes', async () => {
  const formats = await panel('export');
  expect(formats.rows.map(({ id }) => id)).toEqual(['markdown', 'json', 'html']);
  expect(formats.rows[0]?.acts[0]).toMatchObject({
    kind: 'write',
    line: 'export markdown',
    words: expect.stringMatching(/^ouro-\w{8}\.md$/),
  });
});

test('every line a panel would run is understood', async () => {
  const known = made.conversation.commands().map((command) => command.name);
  for (const name of ['config', 'permissions', 'hooks', 'agents', 'model', 'effort', 'context', 'mcp', 'ps']) {
    const { acts, rows } = await panel(name);
    for (const act of [...acts, ...rows.flatMap((row) => row.acts)]) expect(known).toContain(act.line.split(' ')[0]);
  }
});

test('a command of a file keeps its name; other names of ours give way', async () => {
  await project.write('.claude/commands/bashes.md', 'Say hello.');
  await made.conversation.control?.reloadSkills?.();
  expect((await made.conversation.runCommand('bashes')).kind).toBe('prompt');
});
