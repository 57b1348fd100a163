import { writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { SeenRequest } from '../support/api/dialect.ts';
import { type ApiTurn, calls, delayed, says, toolUse } from '../support/api/reply.ts';
import { gate } from '../support/api/server.ts';
import { EDITOR_TOOLS, startEditor } from '../support/editor-server.ts';
import { testGolden } from '../support/golden.ts';

const support = (name: string) => join(import.meta.dirname, '../support', name);

const HOOK_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'TaskCreated',
  'TaskCompleted',
  'PermissionDenied',
  'Notification',
];

/** Each event adds a context that names it. */
const contextHooks = Object.fromEntries(
  HOOK_EVENTS.map((event) => {
    const output = { hookSpecificOutput: { hookEventName: event, additionalContext: `of ${event}` } };
    return [event, [{ hooks: [{ type: 'command', command: `echo '${JSON.stringify(output)}'` }] }]];
  }),
);

const onTool = (event: string, matcher: string, output: object) => ({
  hooks: { [event]: [{ matcher, hooks: [{ type: 'command', command: `echo '${JSON.stringify(output)}'` }] }] },
});

/** The turns of a conversation, by the number of replies that its request contains. */
const turnOf = ({ raw }: SeenRequest) => raw.match(/"role":"assistant"/g)?.length ?? 0;
const isFor = (name: string, { body }: SeenRequest) =>
  JSON.stringify(body.messages?.[0] ?? '').includes(`You are ${name}`);
const task = (name: string, more: object = {}) =>
  toolUse('Task', { description: name, prompt: `You are ${name}`, ...more }, `toolu_${name.toLowerCase()}`);
const byAgent =
  (agents: Readonly<Record<string, readonly ApiTurn[]>>, main: readonly ApiTurn[]) => (request: SeenRequest) =>
    (Object.entries(agents).find(([name]) => isFor(name, request))?.[1] ?? main)[turnOf(request)];

const READ = toolUse('Read', { file_path: 'a.txt' }, 'toolu_read');
const WRITE_WORDS = toolUse('Write', { file_path: 'a.word', content: 'good\nbad\n' }, 'toolu_write');
const WORDS = { command: process.execPath, args: [support('lsp-stub.mjs')], extensionToLanguage: { '.word': 'words' } };
const STUB_SERVER = JSON.stringify({
  mcpServers: { stub: { command: process.execPath, args: [support('mcp-stub.mjs')] } },
});

const ann = gate();
const asked = { folder: '' };

/** No request that names the conversation while it goes on. */
const WITHOUT_TITLES = { smallModel: 'off' };

testGolden({
  'hooks of every event add context': {
    files: { 'a.txt': 'alpha\n', '.claude/settings.json': JSON.stringify({ hooks: contextHooks }) },
    turns: byAgent({ Ann: [says('Ann here.')] }, [
      calls(READ),
      calls(toolUse('Read', { file_path: 'gone.txt' }, 'toolu_gone')),
      calls(toolUse('Bash', { command: 'touch no' }, 'toolu_no')),
      calls(task('Ann')),
      says('Done.'),
    ]),
  },
  'a hook denies a call': {
    files: { 'a.txt': 'alpha\n' },
    settings: onTool('PreToolUse', 'Read', {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'Secret.',
      },
    }),
    turns: [calls(READ), says('Denied.')],
  },
  'a hook changes an input and allows the call': {
    files: { 'a.txt': 'alpha\n' },
    settings: onTool('PreToolUse', 'Bash', {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'allow',
        updatedInput: { command: 'echo changed by a hook' },
      },
    }),
    turns: [calls(toolUse('Bash', { command: 'make all' }, 'toolu_1')), says('Done.')],
  },
  'a hook replaces a result': {
    files: { 'a.txt': 'alpha\n' },
    settings: onTool('PostToolUse', 'Read', {
      hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'in other words' },
    }),
    turns: [calls(READ), says('Done.')],
  },
  'a stop hook objects once': {
    settings: {
      hooks: {
        Stop: [{ hooks: [{ type: 'command', command: '[ -e seen ] || { touch seen; echo "not yet" >&2; exit 2; }' }] }],
      },
    },
    turns: [says('Done.'), says('Now.')],
  },
  'a prompt hook blocks a prompt': {
    settings: { hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'echo no >&2; exit 2' }] }] } },
    turns: [],
  },
  'a language server reports problems of a written file': {
    files: { 'b.word': 'fine\n' },
    settings: { languageServers: { words: WORDS } },
    options: { permissionMode: 'acceptEdits' },
    turns: [calls(WRITE_WORDS), says('Done.'), says('Yes.')],
    async steps({ conversation }) {
      await conversation.agent.prompt('go');
      await conversation.agent.prompt('well?');
    },
  },
  'a formatter runs at the end of a turn': {
    options: { permissionMode: 'acceptEdits' },
    async prepare(project) {
      await project.write(
        '../home/.ouro/settings.json',
        JSON.stringify({ formatter: `'${join(project.dir, '../capitals')}'` }),
      );
      const capitals = '#!/bin/sh\nfor file; do tr a-z A-Z < "$file" > "$file.tmp" && mv "$file.tmp" "$file"; done\n';
      await chmod(await project.write('../capitals', capitals), 0o755);
    },
    turns: [
      calls(toolUse('Write', { file_path: 'a.txt', content: 'alpha\n' }, 'toolu_1')),
      says('Done.'),
      says('Yes.'),
    ],
    async steps({ conversation }) {
      await conversation.agent.prompt('go');
      await conversation.agent.prompt('well?');
    },
  },
  'an editor shows an edit and allows it': {
    files: { 'a.txt': 'one\ntwo\nthree\n' },
    settings: WITHOUT_TITLES,
    options: { frontend: 'screen' },
    turns: [
      calls(READ),
      calls(toolUse('Edit', { file_path: 'a.txt', old_string: 'two', new_string: 'zwei' }, 'toolu_edit')),
      says('Done.'),
    ],
    async steps({ conversation, events }, { project }) {
      const tools = EDITOR_TOOLS.filter((tool) => tool !== 'getDiagnostics');
      const editor = await startEditor(project.home, { folders: [project.dir], tools });
      conversation.editor?.start();
      await vi.waitFor(() =>
        expect(events.some((event) => event.type === 'notice' && event.text.startsWith('Connected'))).toBe(true),
      );
      const ended = conversation.agent.prompt('go');
      await editor.until(() => editor.openDiffs().length === 1);
      editor.answerDiff('FILE_SAVED', 'one\nzwei\nthree\n');
      await ended;
      await editor.stop();
    },
  },
  'two sub-agents run one after the other': {
    files: { 'a.txt': 'alpha\n' },
    turns: byAgent(
      {
        Ann: [calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_ann_read')), says('Ann read it.')],
        Bob: [says('Bob here.')],
      },
      [calls(task('Ann')), calls(task('Bob', { subagent_type: 'Explore' })), says('Both are done.')],
    ),
  },
  'a sub-agent runs in the background and its end starts a turn': {
    files: {},
    options: { allowedTools: ['Bash'] },
    prepare: async (project) => {
      asked.folder = project.dir;
    },
    turns: (request) => {
      if (isFor('Ann', request)) writeFileSync(join(asked.folder, '../asked'), '');
      return byAgent({ Ann: [delayed(ann.closed, says('It is 42.'))] }, [
        calls(
          task('Ann', { run_in_background: true }),
          toolUse('Bash', { command: 'until [ -e ../asked ]; do sleep 0.01; done' }, 'toolu_wait'),
        ),
        says('Ann is at it.'),
        says('Ann says 42.'),
      ])(request);
    },
    async steps({ conversation, events }) {
      await conversation.agent.prompt('go');
      ann.open();
      await vi.waitFor(() =>
        expect(events.filter((event) => event.type === 'background' && event.state === 'completed')).toHaveLength(1),
      );
      await vi.waitFor(() => expect(events.filter(({ type }) => type === 'agent_end')).toHaveLength(2));
      await conversation.agent.waitForIdle();
    },
  },
  'a sub-agent of the project has its own tools, model and prompt': {
    files: {
      'a.txt': 'alpha\n',
      '.claude/agents/reader.md': '---\nname: reader\ndescription: Reads\ntools: Read\nmodel: haiku\n---\nRead slowly.',
    },
    turns: byAgent({ Ann: [calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_ann_read')), says('alpha')] }, [
      calls(task('Ann', { subagent_type: 'reader' })),
      says('Done.'),
    ]),
  },
  'a plan is written, approved and carried out': {
    files: { 'a.txt': 'alpha\n' },
    settings: WITHOUT_TITLES,
    options: { frontend: 'screen', permissionMode: 'plan' },
    turns: [
      calls(READ),
      calls(toolUse('Write', { file_path: 'b.txt', content: 'early\n' }, 'toolu_early')),
      calls(toolUse('ExitPlanMode', { plan: '1. Write b.txt' }, 'toolu_plan')),
      calls(toolUse('Write', { file_path: 'b.txt', content: 'beta\n' }, 'toolu_write')),
      says('Done.'),
    ],
    async steps({ conversation: { agent } }) {
      agent.subscribe((event) => {
        if (event.type === 'question' && event.question.kind === 'plan')
          agent.answerQuestion(event.id, { kind: 'plan', verdict: 'accept_edits' });
        if (event.type === 'permission_request') agent.answerPermission(event.request.id, { behavior: 'deny' });
      });
      await agent.prompt('go');
    },
  },
  'a task list is kept and shown again': {
    turns: [
      calls(
        toolUse('TodoWrite', { todos: [{ content: 'One', status: 'pending', activeForm: 'Doing one' }] }, 'toolu_1'),
      ),
      calls(
        toolUse('TodoWrite', { todos: [{ content: 'One', status: 'completed', activeForm: 'Doing one' }] }, 'toolu_2'),
      ),
      says('Done.'),
    ],
  },
  'a server of the Model Context Protocol is called': {
    options: { mcpConfig: [STUB_SERVER], allowedTools: ['mcp__stub__echo'] },
    turns: [calls(toolUse('mcp__stub__echo', { message: 'hello' }, 'toolu_1')), says('Done.')],
  },
  'a deferred tool is loaded, then called': {
    files: {
      'a.ipynb': JSON.stringify({
        cells: [{ cell_type: 'code', source: ['1'], metadata: {}, outputs: [] }],
        metadata: {},
      }),
    },
    options: { permissionMode: 'acceptEdits' },
    turns: [calls(toolUse('ToolSearch', { query: 'select:MultiEdit' }, 'toolu_1')), calls(READ), says('Done.')],
  },
  'a skill is used': {
    files: {
      '.claude/skills/outline/SKILL.md': '---\nname: outline\ndescription: Plans a text\n---\nPlan it in three lines.',
    },
    turns: [calls(toolUse('Skill', { name: 'outline' }, 'toolu_1')), says('Done.')],
  },
  'a command of the project is run': {
    files: {
      '.claude/commands/look.md': '---\ndescription: Looks\nallowed-tools: Read\n---\nLook at $ARGUMENTS.',
      'a.txt': 'alpha\n',
    },
    turns: [calls(READ), says('Done.')],
    async steps({ conversation }) {
      const outcome = await conversation.runCommand('look a.txt');
      if (outcome.kind === 'prompt') await conversation.agent.prompt(outcome.blocks);
    },
  },
  'rules for paths are added when a file is touched': {
    files: {
      '.claude/rules/numbers.md': '---\npaths: sub/**\n---\nWrite numbers as words.',
      'sub/CLAUDE.md': 'This folder is generated.\n',
      'sub/a.txt': 'alpha\n',
    },
    turns: [calls(toolUse('Read', { file_path: 'sub/a.txt' }, 'toolu_1')), says('Done.')],
  },
  'a patch touches the files it names': {
    options: { permissionMode: 'acceptEdits' },
    files: {
      '.claude/rules/numbers.md': '---\npaths: sub/**\n---\nWrite numbers as words.',
      '.claude/skills/subs/SKILL.md': '---\ndescription: Knows the folder sub\npaths: sub/**\n---\nLook twice.',
      'sub/CLAUDE.md': 'This folder is generated.\n',
      'sub/a.txt': 'alpha\n',
    },
    turns: [
      calls(
        toolUse(
          'apply_patch',
          { input: '*** Begin Patch\n*** Update File: sub/a.txt\n@@\n-alpha\n+beta\n*** End Patch' },
          'toolu_1',
        ),
      ),
      says('Done.'),
    ],
  },
  'a command in the background is read and killed': {
    options: { allowedTools: ['Bash'] },
    turns: [
      calls(toolUse('Bash', { command: 'echo ready; exec sleep 300', run_in_background: true }, 'toolu_1')),
      says('Started.'),
      calls(toolUse('KillShell', { shell_id: 'bash_1' }, 'toolu_2')),
      says('Done.'),
    ],
    async steps({ conversation }) {
      await conversation.agent.prompt('go');
      await conversation.agent.prompt('stop it');
    },
  },
  'an output style and a language shape the prompt': {
    files: { '.claude/output-styles/terse.md': '---\nname: terse\ndescription: Short\n---\nAnswer in one word.' },
    settings: { outputStyle: 'terse', language: 'German' },
    turns: [says('Ja.')],
  },
  'the mode changes between two prompts': {
    turns: [says('One.'), says('Two.'), says('Three.')],
    async steps({ conversation }) {
      await conversation.agent.prompt('go');
      conversation.setMode('plan');
      await conversation.agent.prompt('plan it');
      conversation.setMode('default');
      await conversation.setModel('opus');
      await conversation.agent.prompt('go on');
    },
  },
});
