import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { says } from '../../../test/support/api/reply.ts';
import { startApiServer } from '../../../test/support/api/server.ts';
import { runHere } from '../../../test/support/run-here.ts';
import { someOf } from '../../../test/support/runs.ts';
import { createTempProject, type TempProject } from '../../../test/support/temp-project.ts';

const lines = (...records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const text = (value: string) => [{ type: 'text', text: value }];
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const AT = '2026-10-05T10:00:00.000Z';
const AT_MS = Date.parse(AT);

/** A conversation about a parser, as each assistant stores it: a prompt, a call with its result, an answer. */
type Format = {
  readonly assistant: string;
  readonly title: string;
  readonly lost: readonly string[];
  /** Words that the next request has, besides the conversation itself. */
  readonly sent?: readonly string[];
  /** Words that no request has. */
  readonly notSent?: readonly string[];
  write(project: TempProject): Promise<unknown>;
};

const claudeLine = (cwd: string, uuid: string, parentUuid: string | null, rest: object) => ({
  ...{ uuid, parentUuid, sessionId: 'c1', cwd, version: '2.1.0', isSidechain: false, timestamp: AT },
  ...rest,
});

const FORMATS: readonly Format[] = [
  {
    assistant: 'Claude Code',
    title: 'Repair the parser',
    lost: ['1 thought of the model, which are signed for its provider'],
    sent: ['image/png'],
    notSent: ['abandoned', 'a reminder', 'of a sub-agent', 'not of the user'],
    write: (project) =>
      project.write(
        '../home/.claude/projects/-tmp-project/c1.jsonl',
        lines(
          claudeLine(project.dir, 'u0', null, {
            type: 'user',
            isMeta: true,
            message: { role: 'user', content: 'not of the user' },
          }),
          claudeLine(project.dir, 'u1', 'u0', {
            type: 'user',
            message: {
              role: 'user',
              content: [
                ...text('Why does the parser fail?'),
                ...text('<system-reminder>a reminder</system-reminder>'),
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
              ],
            },
          }),
          claudeLine(project.dir, 'x1', 'u1', {
            type: 'assistant',
            message: { role: 'assistant', model: 'claude-opus-5', content: text('abandoned') },
          }),
          claudeLine(project.dir, 'x2', 'u1', {
            type: 'assistant',
            isSidechain: true,
            message: { role: 'assistant', model: 'claude-opus-5', content: text('of a sub-agent') },
          }),
          claudeLine(project.dir, 'a1', 'u1', {
            type: 'assistant',
            message: {
              id: 'm1',
              role: 'assistant',
              model: 'claude-opus-5',
              content: [{ type: 'thinking', thinking: 'Hm.', signature: 'abc' }],
            },
          }),
          claudeLine(project.dir, 'a2', 'a1', {
            type: 'assistant',
            message: {
              id: 'm1',
              role: 'assistant',
              model: 'claude-opus-5',
              content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: 'parser.ts' } }],
            },
          }),
          claudeLine(project.dir, 'u2', 'a2', {
            type: 'user',
            message: {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: text('const x = 1;') }],
            },
          }),
          claudeLine(project.dir, 'a3', 'u2', {
            type: 'assistant',
            message: { id: 'm2', role: 'assistant', model: 'claude-opus-5', content: text('A bracket is missing.') },
          }),
          { type: 'summary', summary: 'Repair the parser', leafUuid: 'a3' },
        ),
      ),
  },
  {
    assistant: 'Codex',
    title: 'Why does the parser fail?',
    lost: ['1 thought of the model, which are signed for its provider'],
    notSent: ['environment_context', 'Only told by an event', 'Told by Codex itself'],
    write: (project) =>
      project.write(
        '../home/.codex/sessions/2026/10/05/rollout-2026-10-05T10-00-00-0199.jsonl',
        lines(
          ...[
            {
              type: 'session_meta',
              payload: {
                id: '0199-1',
                timestamp: AT,
                cwd: project.dir,
                originator: 'codex_cli',
                cli_version: '0.150.0',
              },
            },
            {
              type: 'response_item',
              payload: {
                type: 'message',
                role: 'developer',
                content: [{ type: 'input_text', text: 'Told by Codex itself' }],
              },
            },
            {
              type: 'response_item',
              payload: {
                type: 'message',
                role: 'user',
                content: [{ type: 'input_text', text: '<environment_context>x</environment_context>' }],
              },
            },
            { type: 'turn_context', payload: { cwd: project.dir, model: 'gpt-6' } },
            {
              type: 'response_item',
              payload: {
                type: 'message',
                role: 'user',
                content: [{ type: 'input_text', text: 'Why does the parser fail?' }],
              },
            },
            { type: 'event_msg', payload: { type: 'agent_message', message: 'Only told by an event' } },
            { type: 'response_item', payload: { type: 'reasoning', summary: [], encrypted_content: 'gAAA' } },
            {
              type: 'response_item',
              payload: {
                type: 'function_call',
                name: 'exec_command',
                arguments: '{"cmd":"cat parser.ts"}',
                call_id: 'call_1',
              },
            },
            {
              type: 'response_item',
              payload: { type: 'function_call_output', call_id: 'call_1', output: 'const x = 1;' },
            },
            {
              type: 'response_item',
              payload: {
                type: 'message',
                role: 'assistant',
                content: [{ type: 'output_text', text: 'A bracket is missing.' }],
              },
            },
          ].map((record) => ({ timestamp: AT, ...record })),
        ),
      ),
  },
  {
    assistant: 'pi',
    title: 'Named by me',
    lost: ['1 thought of the model, which are signed for its provider'],
    notSent: ['abandoned', 'before the summary'],
    sent: ['A long talk about parsers'],
    write: (project) =>
      project.write(
        '../home/.pi/agent/sessions/--tmp-project--/2026_p1.jsonl',
        lines(
          { type: 'session', version: 3, id: 'p1', timestamp: AT, cwd: project.dir },
          {
            type: 'message',
            id: '1',
            parentId: null,
            timestamp: AT,
            message: { role: 'user', content: 'before the summary' },
          },
          {
            type: 'message',
            id: '2',
            parentId: '1',
            timestamp: AT,
            message: { role: 'user', content: 'Why does the parser fail?' },
          },
          {
            type: 'compaction',
            id: '3',
            parentId: '2',
            timestamp: AT,
            summary: 'A long talk about parsers',
            firstKeptEntryId: '2',
            tokensBefore: 9,
          },
          { type: 'message', id: 'x', parentId: '3', timestamp: AT, message: { role: 'user', content: 'abandoned' } },
          {
            type: 'message',
            id: '4',
            parentId: '3',
            timestamp: AT,
            message: {
              role: 'assistant',
              provider: 'google',
              model: 'gemini-3',
              content: [
                { type: 'thinking', thinking: 'Hm.' },
                { type: 'toolCall', id: 'a|b', name: 'read', arguments: { path: 'parser.ts' } },
              ],
            },
          },
          {
            type: 'message',
            id: '5',
            parentId: '4',
            timestamp: AT,
            message: {
              role: 'toolResult',
              toolCallId: 'a|b',
              toolName: 'read',
              content: text('const x = 1;'),
              isError: false,
            },
          },
          {
            type: 'message',
            id: '6',
            parentId: '5',
            timestamp: AT,
            message: {
              role: 'assistant',
              provider: 'google',
              model: 'gemini-3',
              content: text('A bracket is missing.'),
            },
          },
          { type: 'session_info', id: '7', parentId: '6', timestamp: AT, name: 'Named by me' },
        ),
      ),
  },
  {
    assistant: 'Gemini CLI',
    title: 'Parser repair',
    lost: ['1 thought of the model, which are signed for its provider'],
    notSent: ['taken back'],
    async write(project) {
      await project.write('../home/.gemini/tmp/project/.project_root', project.dir);
      const call = { id: 'read-1', name: 'read_file', args: { path: 'parser.ts' }, status: 'success', timestamp: AT };
      const result = [{ functionResponse: { id: 'read-1', name: 'read_file', response: { output: 'const x = 1;' } } }];
      await project.write(
        '../home/.gemini/tmp/project/chats/session-2026-10-05-g1.jsonl',
        lines(
          { sessionId: 'g1', projectHash: 'project', startTime: AT, lastUpdated: AT, kind: 'main' },
          { id: '1', timestamp: AT, type: 'user', content: [{ text: 'Why does the parser fail?' }] },
          { id: '2', timestamp: AT, type: 'user', content: 'taken back' },
          { $rewindTo: '2' },
          { id: '3', timestamp: AT, type: 'info', content: 'a notice' },
          {
            id: '4',
            timestamp: AT,
            type: 'gemini',
            model: 'gemini-3-pro',
            content: '',
            thoughts: [{ subject: 'Hm' }],
            toolCalls: [{ ...call, result }],
          },
          { id: '5', timestamp: AT, type: 'gemini', model: 'gemini-3-pro', content: 'A bracket is missing.' },
          { $set: { summary: 'Parser repair' } },
        ),
      );
    },
  },
  {
    assistant: 'opencode',
    title: 'Parser of files',
    lost: ['1 thought of the model, which are signed for its provider', '1 entry of a kind that ouro does not have'],
    notSent: ['synthetic words'],
    async write(project) {
      const root = '../home/.local/share/opencode/storage';
      for (const [path, value] of Object.entries({
        'session/global/ses_1.json': {
          id: 'ses_1',
          directory: project.dir,
          title: 'Parser of files',
          time: { created: AT_MS, updated: AT_MS },
        },
        'session/global/ses_2.json': {
          id: 'ses_2',
          parentID: 'ses_1',
          directory: project.dir,
          title: 'Sub-agent',
          time: { updated: AT_MS },
        },
        'message/ses_1/msg_1.json': { id: 'msg_1', role: 'user', time: { created: AT_MS } },
        'message/ses_1/msg_2.json': {
          id: 'msg_2',
          role: 'assistant',
          providerID: 'anthropic',
          modelID: 'claude-opus-5',
          time: { created: AT_MS },
        },
        'part/msg_1/prt_1.json': { id: 'prt_1', type: 'text', text: 'Why does the parser fail?' },
        'part/msg_1/prt_2.json': { id: 'prt_2', type: 'text', text: 'synthetic words', synthetic: true },
        'part/msg_2/prt_1.json': { id: 'prt_1', type: 'reasoning', text: 'Hm.' },
        'part/msg_2/prt_2.json': {
          id: 'prt_2',
          type: 'tool',
          callID: 'call_1',
          tool: 'read',
          state: { status: 'completed', input: { filePath: 'parser.ts' }, output: 'const x = 1;' },
        },
        'part/msg_2/prt_3.json': { id: 'prt_3', type: 'text', text: 'A bracket is missing.' },
        'part/msg_2/prt_4.json': { id: 'prt_4', type: 'agent', name: 'plan' },
      }))
        await project.write(`${root}/${path}`, JSON.stringify(value));
    },
  },
  {
    assistant: 'opencode',
    title: 'Parser of a database',
    lost: [],
    async write(project) {
      const file = join(project.home, '.local/share/opencode/opencode.db');
      mkdirSync(dirname(file), { recursive: true });
      const database = new DatabaseSync(file);
      database.exec(`
        CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);`);
      const insert = (table: string, ...values: readonly (string | number | null)[]) =>
        database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(...values);
      insert('session', 'ses_3', 'p', null, 's', project.dir, 'Parser of a database', '1', AT_MS, AT_MS);
      insert('message', 'msg_1', 'ses_3', AT_MS, AT_MS, JSON.stringify({ role: 'user', time: { created: AT_MS } }));
      insert(
        'message',
        'msg_2',
        'ses_3',
        AT_MS,
        AT_MS,
        JSON.stringify({ role: 'assistant', providerID: 'openai', modelID: 'gpt-6' }),
      );
      const state = { status: 'error', input: { filePath: 'parser.ts' }, error: 'const x = 1;' };
      for (const [id, message, part] of [
        ['prt_1', 'msg_1', { type: 'text', text: 'Why does the parser fail?' }],
        ['prt_2', 'msg_2', { type: 'tool', callID: 'call_9', tool: 'read', state }],
        ['prt_3', 'msg_2', { type: 'text', text: 'A bracket is missing.' }],
      ] as const)
        insert('part', id, message, 'ses_3', AT_MS, AT_MS, JSON.stringify(part));
      database.close();
    },
  },
];

test.each(someOf(FORMATS, 2))(
  'a session of $assistant ("$title") is listed, imported and continued',
  async (format) => {
    const { assistant, title, lost, sent = [], notSent = [], write } = format;
    await using project = await createTempProject({ 'parser.ts': 'const x = 1;\n' });
    await using server = await startApiServer({ turns: () => says('As I said.') });
    await write(project);

    const listed = await runHere(project, ['import', 'sessions']);
    const losses = lost.map((line) => `    not imported: ${line}\n`).join('');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toMatch(`${assistant}: session "${title}" of 2026-10-05, `);
    expect(listed.stdout).toContain(`${losses}Nothing was changed. "ouro import sessions --yes" imports it.\n`);
    expect((await runHere(project, ['sessions', 'list'])).stdout).toContain('No sessions in this folder.');

    const taken = await runHere(project, ['import', 'sessions', '--yes']);
    expect(taken).toMatchObject({ code: 0, stderr: '' });
    const [, id = ''] = /^session ".*": ouro --resume (\w{8})$/m.exec(taken.stdout) ?? [];
    const resumed = await runHere(project, ['-p', 'What did you find?', '--resume', id], server.url);
    expect(resumed).toMatchObject({ code: 0, stdout: 'As I said.\n', stderr: '' });
    const [request] = server.requests();
    expect(server.requests().flatMap(({ violation }) => violation ?? [])).toEqual([]);
    const words = ['Why does the parser fail?', 'const x = 1;', 'A bracket is missing.', 'What did you find?', ...sent];
    expect(words.filter((word) => !request?.raw.includes(JSON.stringify(word).slice(1, -1)))).toEqual([]);
    expect(notSent.filter((word) => request?.raw.includes(word))).toEqual([]);
    expect(request?.raw).toMatch(/"type":"tool_use"[\s\S]*"type":"tool_result"/);

    // A second import finds it here, even after it was continued.
    const again = await runHere(project, ['import', 'sessions', '--yes']);
    expect(again).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'not imported: sessions that were imported before: 1\n',
    });
  },
);

test('only sessions of the project are listed, unless all are asked for, and none without being asked', async () => {
  await using project = await createTempProject();
  const [claude] = FORMATS;
  await claude?.write(project);
  await project.write(
    '../home/.codex/sessions/2026/10/05/rollout-other.jsonl',
    lines(
      { type: 'session_meta', payload: { id: 'o', cwd: '/somewhere/else' } },
      {
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Elsewhere' }] },
      },
    ),
  );
  const list = async (...words: readonly string[]) => (await runHere(project, ['import', ...words])).stdout;
  expect(await list('sessions')).not.toContain('Elsewhere');
  expect(await list('sessions', 'all')).toContain('Codex: session "Elsewhere"');
  expect(await list('claude', 'sessions', 'all')).not.toContain('Elsewhere');
  expect(await list()).toMatch(/^Nothing to import: no files .*\n"ouro import sessions" lists sessions/);
});

test('a call without a result, and a file that is no session, stop nothing', async () => {
  await using project = await createTempProject();
  await using server = await startApiServer({ turns: () => says('As I said.') });
  await project.write('../home/.codex/sessions/rollout-broken.jsonl', '{"type":"session_meta"\n\u0000\n[]\n');
  await project.write(
    '../home/.codex/sessions/rollout-open.jsonl',
    lines(
      { type: 'session_meta', payload: { id: 'open', cwd: project.dir } },
      {
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Start it' }] },
      },
      {
        type: 'response_item',
        payload: { type: 'function_call', name: 'exec_command', arguments: '{"cmd":', call_id: 'call_1' },
      },
    ),
  );
  const { stdout, stderr } = await runHere(project, ['import', 'sessions', '--yes']);
  expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^session "Start it": /), stderr: '' });
  const resumed = await runHere(project, ['-p', 'And?', '-c'], server.url);
  expect(resumed).toMatchObject({ code: 0, stdout: 'As I said.\n' });
  expect(server.requests().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  expect(server.requests()[0]?.raw).toContain('No result was recorded.');
});
