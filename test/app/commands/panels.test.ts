import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PanelContent } from '../../../src/contracts/frontend/command.ts';
import { SETTING_KEYS } from '../../../src/contracts/setting-keys.ts';
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
  made = await composed(project, server.url, { frontend: 'screen' });
});

afterAll(async () => {
  await made.close();
  await server[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

async function panel(line: string): Promise<PanelContent> {
  const outcome = await made.conversation.runCommand(line);
  if (outcome.kind !== 'panel') throw new Error(`/${line}: ${JSON.stringify(outcome)}`);
  return outcome.panel;
}

const rowOf = ({ rows }: PanelContent, id: string) => rows.find((row) => row.id === id);
const ownSettings = async () => JSON.parse(await readFile(join(project.ouroHome, 'settings.json'), 'utf8'));

test('/config lists every setting with its value, its source, and a way to change it', async () => {
  const config = await panel('config');
  expect(config.rows.map(({ id }) => id).toSorted()).toEqual(
    SETTING_KEYS.map(({ key }) => key)
      .filter((key) => key !== '$schema')
      .toSorted(),
  );
  // Changed settings come first; the rows of a group are adjacent.
  expect(config.rows.filter(({ group }) => group === 'Changed').map(({ id }) => id)).toEqual(
    config.rows.slice(0, 4).map(({ id }) => id),
  );
  const groups = config.rows.map(({ group }) => group);
  expect(groups.filter((group, at) => groups.indexOf(group) !== at && groups[at - 1] !== group)).toEqual([]);
  expect(rowOf(config, 'theme')?.cells).toEqual(['theme', 'light', 'project']);
  expect(rowOf(config, 'permissions.deny')).toMatchObject({
    cells: ['permissions.deny', 'Bash(rm:*)', 'project'],
    detail: [
      'Rules for calls that never run. A change takes effect with the next prompt.',
      expect.stringMatching(/settings\.json:1$/),
    ],
    actions: [{ key: 'enter', command: 'permissions' }],
  });
  expect(rowOf(config, 'notify')?.actions).toEqual([
    { kind: 'turn', label: 'changes', command: 'config set notify', values: ['auto', 'bell', 'off'], value: 'auto' },
  ]);
  expect(rowOf(config, 'maxRetries')?.actions).toEqual([
    { kind: 'write', key: 'enter', label: 'changes', command: 'config set maxRetries', initialText: '' },
  ]);
});

test('a value is stored in the user’s own file and its effect is reported; an invalid value is refused', async () => {
  expect(await made.command('config set notify bell')).toBe(
    `notify is set to bell with the next session, stored in ${join(project.ouroHome, 'settings.json')}.`,
  );
  expect(await made.command('config set timeouts.bashMs 5000')).toContain(
    'timeouts.bashMs is set to 5000 with the next prompt',
  );
  expect(await made.command('config set autoCompact false')).toContain('autoCompact is set to false');
  expect(await ownSettings()).toEqual({ notify: 'bell', timeouts: { bashMs: 5000 }, autoCompact: false });
  const row = rowOf(await panel('config notify'), 'notify');
  expect(row?.cells).toEqual(['notify', 'bell', 'user']);
  expect(row?.actions[1]).toMatchObject({ key: 'ctrl+d', command: 'config unset notify' });
  expect(await made.command('config unset notify')).toContain('notify is reset to auto');
  for (const [line, words] of [
    ['config set notify loud', 'notify'],
    ['config set maxRetries many', 'maxRetries'],
    ['config set maxRetries -1', 'maxRetries'],
    ['config set hooks x', 'cannot be set in one line'],
    ['config set notfy off', 'Did you mean notify?'],
    ['config set', 'Usage: /config set'],
    ['config nothing', 'There is no setting nothing'],
  ] as const) {
    expect((await made.conversation.runCommand(line)).kind, line).toBe('failed');
    expect(await made.command(line), line).toContain(words);
  }
  expect(await ownSettings()).toEqual({ timeouts: { bashMs: 5000 }, autoCompact: false });
});

test('overriding a project value writes to the local settings', async () => {
  expect(await made.command('config set theme dark')).toContain('settings.local.json');
  expect(rowOf(await panel('settings theme'), 'theme')?.cells).toEqual(['theme', 'dark', 'local']);
  expect(JSON.parse(await project.read('.claude/settings.json'))).toEqual(PROJECT);
  expect(await made.command('config unset theme')).toContain('theme is reset to light');
});

test('rules are added, tested and removed in the panel', async () => {
  const rules = await panel('permissions');
  expect(rules.note).toContain('mode default');
  expect(rowOf(rules, 'project allow Bosh(x)')).toMatchObject({
    mark: 'bad',
    detail: ['Bosh(x)', expect.stringContaining('no tool')],
  });
  expect(await made.command('permissions allow user Bash(make:*)')).toBe(
    'Rule added: allow Bash(make:*), for you in all projects.',
  );
  expect((await ownSettings()).permissions).toEqual({ allow: ['Bash(make:*)'] });
  expect(await made.command('permissions test make all')).toMatch(/^allow/);
  expect(await made.command('permissions test rm -rf x')).toMatch(/^deny/);
  expect(await made.command('permissions test Read src/a.ts')).toMatch(/^allow/);
  const added = rowOf(await panel('permissions'), 'user allow Bash(make:*)');
  const [forget] = added?.actions ?? [];
  expect(forget).toMatchObject({ key: 'ctrl+d', command: 'permissions forget user Bash(make:*)' });
  expect(await made.command('permissions forget Bash(make:*)')).toContain('Run /permissions forget user Bash(make:*)');
  expect(await made.command(forget?.command ?? '')).toBe('Rule deleted: Bash(make:*).');
  expect(await made.command('permissions test make all')).toMatch(/^ask/);
});

test('the instruction files are listed; each can be read, and the user’s own can be edited', async () => {
  const memory = await panel('memory');
  const [first] = memory.rows;
  expect(first).toMatchObject({
    cells: ['CLAUDE.md', 'project', '9 characters'],
    actions: [
      { key: 'enter', command: 'memory 1' },
      { key: 'ctrl+e', command: 'memory edit 1' },
    ],
  });
  expect(await made.command('memory 1')).toContain('Use tabs.');
  expect(await made.conversation.runCommand('memory edit 1')).toMatchObject({ kind: 'open', view: 'edit_file' });
  expect(await made.command('memory 9')).toContain('no instruction file 9');
});

test('hooks, sub-agents, context, models and efforts are lists with details for each row', async () => {
  const hooks = await panel('hooks');
  expect(hooks.rows[0]?.cells).toEqual(['PreToolUse', 'Bash', 'true', 'has not run']);
  expect(await made.command('hooks 1')).toMatch(/action +true\nsource +\/.+settings\.json:1/);
  const agents = await panel('agents');
  expect(rowOf(agents, 'reviewer')).toMatchObject({ detail: ['reads changes', 'Read, Grep'] });
  expect(await made.command('agents reviewer')).toContain('Read what changed.');
  expect((await panel('context')).rows.at(0)?.share).toBeGreaterThan(0);
  const models = await panel('model');
  expect(models.rows.filter(({ mark }) => mark === 'current').map(({ id }) => id)).toEqual(['claude-sonnet-5-5']);
  expect(models.actions[0]).toMatchObject({ kind: 'turn', command: 'effort', value: 'auto' });
  expect(await made.command('effort high')).toBe('Effort set to high.');
  expect((await panel('effort')).rows.find(({ mark }) => mark === 'current')?.id).toBe('high');
  expect(await panel('mcp')).toMatchObject({ rows: [], empty: expect.stringContaining('ouro mcp add') });
  expect(await panel('bashes')).toMatchObject({ rows: [], command: 'ps' });
});

test('a status line script takes effect at once, receives the fields Claude Code scripts expect, and may print several lines', async () => {
  const file = join(project.dir, 'facts.json');
  expect(await made.command(`statusline cat > '${file}'; echo one; echo two; echo three; echo four`)).toContain(
    'shows the output of:',
  );
  expect(await made.conversation.renderStatusLine?.()).toBe('one\ntwo\nthree');
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
      current_usage: null,
      used_percentage: 0,
      remaining_percentage: 100,
    },
    exceeds_200k_tokens: false,
  });
  expect(await made.command('statusline off')).toBe('Default status line restored.');
  expect(await made.conversation.renderStatusLine?.()).toBeUndefined();
});

test('/export asks for format and destination before it writes', async () => {
  const formats = await panel('export');
  expect(formats.rows.map(({ id }) => id)).toEqual(['markdown', 'json', 'html']);
  expect(formats.rows[0]?.actions[0]).toMatchObject({
    kind: 'write',
    command: 'export markdown',
    initialText: expect.stringMatching(/^ouro-\w{8}\.md$/),
  });
});

test('every command a panel would run is valid', async () => {
  const known = made.conversation.commands().map((command) => command.name);
  for (const name of ['config', 'permissions', 'hooks', 'agents', 'model', 'effort', 'context', 'mcp', 'ps']) {
    const { actions, rows } = await panel(name);
    for (const act of [...actions, ...rows.flatMap((row) => row.actions)])
      expect(known).toContain(act.command.split(' ')[0]);
  }
});

test('a command from a file keeps its name; a built-in one with that name is renamed', async () => {
  await project.write('.claude/commands/bashes.md', 'Say hello.');
  await made.conversation.control.reloadSkills();
  expect((await made.conversation.runCommand('bashes')).kind).toBe('prompt');
});
