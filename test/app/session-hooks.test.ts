import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const LOG = 'cat >> log.jsonl';
const ANN = toolUse(
  'Task',
  { description: 'Ann', prompt: 'You are Ann', name: 'ann', run_in_background: true },
  'toolu_ann',
);
const command = (line: string, more: object = {}) => ({ hooks: [{ type: 'command', command: line, ...more }] });

/** What every event was told, in the order it came. */
async function reported(project: TempProject): Promise<readonly Record<string, unknown>[]> {
  const text = await readFile(join(project.dir, 'log.jsonl'), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

test('hooks run for batches, tasks, folders, models, instructions, settings and refusals', async () => {
  const events = [
    'TaskCreated',
    'TaskCompleted',
    'CwdChanged',
    'PostModelSwitch',
    'InstructionsLoaded',
    'ConfigChange',
    'PermissionDenied',
    'MessageDisplay',
    'TeammateIdle',
    'SubagentStop',
  ];
  const hooks = {
    ...Object.fromEntries(events.map((event) => [event, [command(LOG)]])),
    PostToolBatch: [command(`${LOG}; echo '{"hookSpecificOutput":{"additionalContext":"of the batch"}}'`)],
    UserPromptExpansion: [
      { matcher: 'go', ...command(`echo '{"hookSpecificOutput":{"additionalContext":"of the command"}}'`) },
    ],
    FileChanged: [{ matcher: '.envrc|gone.txt|new.txt', ...command(LOG) }],
    PreModelSwitch: [{ matcher: '.*opus.*', ...command('echo too dear >&2; exit 2') }],
    PostToolUse: [
      { matcher: 'Read', ...command(`echo '{"hookSpecificOutput":{"updatedToolOutput":"in other words"}}'`) },
    ],
  };
  await using project = await createTempProject({
    '.claude/settings.json': JSON.stringify({ hooks }),
    'CLAUDE.md': 'Be brief.',
    'a.txt': 'alpha',
    '.envrc': 'one',
    'gone.txt': 'x',
    'sub/b.txt': 'b',
    '.claude/commands/go.md': 'Go on.',
  });
  const todo = (status: string) =>
    toolUse('TodoWrite', { todos: [{ content: 'Read it', status, activeForm: 'Reading' }] }, `toolu_${status}`);
  await using server = await startApiServer({
    turns: ({ raw }) => {
      if (raw.includes('You are Ann') && !raw.includes('toolu_ann')) return says('Ann here.');
      if (!raw.includes('toolu_read'))
        return calls(
          toolUse('Read', { file_path: 'a.txt' }, 'toolu_read'),
          todo('pending'),
          toolUse('Bash', { command: 'cd sub' }, 'toolu_cd'),
          toolUse('Bash', { command: 'touch no' }, 'toolu_no'),
        );
      return raw.includes('toolu_completed') ? says('Done.') : calls(todo('completed'), ANN);
    },
  });
  const made = await composed(project, server.url, { frontend: 'print' });
  try {
    const outcome = await made.conversation.runCommand('go');
    if (outcome.kind !== 'prompt') throw new Error(outcome.kind);
    await made.conversation.agent.prompt(outcome.blocks);
    expect(server.requests()[0]?.raw).toContain('of the command');
    expect(server.requests()[1]?.raw).toContain('of the batch');
    expect(server.requests()[1]?.raw).toContain('in other words');
    expect(await made.conversation.setModel('opus')).toEqual({ ok: false, problem: 'too dear' });
    expect(await made.conversation.setModel('haiku')).toMatchObject({ ok: true });
    await project.write('.claude/settings.json', JSON.stringify({ hooks, language: 'French' }));
    await project.write('.envrc', 'other');
    await project.write('new.txt', 'new');
    await rm(join(project.dir, 'gone.txt'));
    await made.conversation.agent.prompt('more');
    await vi.waitFor(async () =>
      expect((await reported(project)).map(({ teammate_name: name }) => name)).toContain('ann'),
    );
  } finally {
    await made.close();
  }
  const received = await reported(project);
  const of = (event: string) => received.filter((one) => one.hook_event_name === event);
  expect(of('PostToolBatch')[0]).toMatchObject({
    tool_calls: [{ tool_name: 'Read' }, { tool_name: 'TodoWrite' }, { tool_name: 'Bash' }],
  });
  expect(of('TaskCreated')).toMatchObject([{ task_subject: 'Read it' }]);
  expect(of('TaskCompleted')).toMatchObject([{ task_subject: 'Read it' }]);
  expect(of('CwdChanged')).toMatchObject([{ old_cwd: project.dir, new_cwd: join(project.dir, 'sub') }]);
  expect(of('PermissionDenied')).toMatchObject([{ tool_name: 'Bash', tool_input: { command: 'touch no' } }]);
  expect(of('PostModelSwitch')).toMatchObject([{ to_model: expect.stringContaining('haiku') }]);
  expect(of('InstructionsLoaded')).toMatchObject([
    { file_path: join(project.dir, 'CLAUDE.md'), memory_type: 'Project', load_reason: 'session_start' },
  ]);
  expect(
    of('FileChanged')
      .map(({ file_path: path, event }) => [basename(String(path)), event])
      .toSorted(),
  ).toEqual([
    ['.envrc', 'change'],
    ['gone.txt', 'unlink'],
    ['new.txt', 'add'],
  ]);
  expect(of('MessageDisplay')).toMatchObject([
    { index: 0, final: true, delta: 'Done.' },
    { index: 0, final: true, delta: 'Done.' },
  ]);
  expect(of('SubagentStop')).toMatchObject([
    { agent_id: expect.stringMatching(/^agent_/), agent_transcript_path: expect.stringContaining('/subagents/') },
  ]);
  expect(of('ConfigChange')).toMatchObject([
    { source: 'project_settings', file_path: join(project.dir, '.claude/settings.json') },
  ]);
});

longTest('a skill and a sub-agent add hooks only while they are active', async () => {
  const hook = (word: string) =>
    `hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: "echo ${word} >&2; exit 2"`;
  const stop = `  Stop:\n    - hooks:\n        - type: command\n          command: "${LOG}"`;
  await using project = await createTempProject({
    '.claude/skills/safe/SKILL.md': `---\ndescription: Safe\n${hook('by the skill')}\n---\nBe safe.`,
    '.claude/agents/helper.md': `---\nname: helper\ndescription: Helps\n${hook('by the agent')}\n${stop}\n---\nYou help.`,
  });
  const bash = (id: string) => toolUse('Bash', { command: 'pwd' }, id);
  await using server = await startApiServer({
    turns: ({ raw, body }) => {
      if (JSON.stringify(body.system).includes('You help.'))
        return raw.includes('toolu_own') ? says('Helped.') : calls(bash('toolu_own'));
      if (!raw.includes('toolu_0'))
        return calls(
          bash('toolu_0'),
          toolUse('Task', { description: 'h', prompt: 'h', subagent_type: 'helper' }, 'toolu_t'),
        );
      if (!raw.includes('toolu_s')) return calls(toolUse('Skill', { name: 'safe' }, 'toolu_s'));
      return raw.includes('toolu_1') ? says('Done.') : calls(bash('toolu_1'));
    },
  });
  const made = await composed(project, server.url, { frontend: 'print' });
  try {
    await made.conversation.agent.prompt('do it');
    const raw = server.requests().at(-1)?.raw ?? '';
    expect(raw.match(/by the skill/g)).toHaveLength(1);
    expect(raw).not.toContain('by the agent');
    expect(server.requests().some((request) => request.raw.includes('by the agent'))).toBe(true);
    expect(await reported(project)).toMatchObject([{ hook_event_name: 'SubagentStop', agent_type: 'helper' }]);
  } finally {
    await made.close();
  }
});

test('a prompt hook asks a model, and a late hook result starts a turn', async () => {
  const hooks = {
    UserPromptSubmit: [{ hooks: [{ type: 'prompt', prompt: 'Is this polite? $ARGUMENTS' }] }],
    PostToolUse: [{ matcher: 'Read', ...command('echo tests fail >&2; exit 2', { asyncRewake: true }) }],
    Stop: [{ hooks: [{ type: 'agent', prompt: 'Are the tests green?', once: true }] }],
  };
  await using project = await createTempProject({ 'a.txt': 'alpha' });
  await using server = await startApiServer({
    side({ raw }) {
      if (!raw.includes('Is this polite?')) return undefined;
      return says(raw.includes('rude words') ? '{"ok": false, "reason": "not polite"}' : '{"ok": true}');
    },
    turns: ({ raw }) => {
      if (raw.includes('Are the tests green?')) return says('{"ok": false, "reason": "they are red"}');
      if (raw.includes('tests fail')) return says('I see that they fail.');
      return raw.includes('toolu_read') ? says('Read.') : calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_read'));
    },
  });
  const made = await composed(project, server.url, { frontend: 'host', settings: JSON.stringify({ hooks }) });
  try {
    const refused = await made.conversation.agent.prompt('rude words');
    expect(refused).toMatchObject({ reason: 'hook_stopped', words: 'not polite' });
    await made.conversation.agent.prompt('kind words');
    await vi.waitFor(() => expect(server.requests().some(({ raw }) => raw.includes('tests fail'))).toBe(true));
    await made.conversation.agent.waitForIdle();
    expect(server.requests().some(({ raw }) => raw.includes('they are red'))).toBe(true);
  } finally {
    await made.close();
  }
});
