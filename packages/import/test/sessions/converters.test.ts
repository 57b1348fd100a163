import type { JsonObject } from '@ouro-cli/ouro/commands';
import { expect, test } from 'vitest';
import { convertClaudeSession } from '../../src/sessions/claude-session.ts';
import { convertCodexSession } from '../../src/sessions/codex-session.ts';
import type { ForeignSession } from '../../src/sessions/foreign-session.ts';
import { convertGeminiSession } from '../../src/sessions/gemini-session.ts';
import { convertOpencodeSession } from '../../src/sessions/opencode-session.ts';
import { convertPiSession } from '../../src/sessions/pi-session.ts';

const toLines = (records: readonly JsonObject[]) => records.map((record) => JSON.stringify(record)).join('\n');

/** The title and the texts of a session, in order. */
function summarize(session: ForeignSession | undefined) {
  const texts = session?.messages.flatMap((message) =>
    message.role !== 'user' && message.role !== 'assistant'
      ? []
      : message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
  return { title: session?.title, texts };
}

function codexMessage(role: 'user' | 'assistant', text: string): JsonObject {
  const content = [{ type: role === 'user' ? 'input_text' : 'output_text', text }];
  return { type: 'response_item', payload: { type: 'message', role, content } };
}

test('turns that Codex has rolled back are left out, and the request of the editor is the title', () => {
  const request =
    '# Context from my IDE setup:\n\n## Open tabs:\n- a.ts: a.ts\n\n## My request for Codex:\nFix  a.ts\n';
  const text = toLines([
    { type: 'session_meta', payload: { session_id: 'c', cwd: '/p' } },
    codexMessage('user', request),
    codexMessage('assistant', 'Fixed.'),
    codexMessage('user', 'Now b.ts'),
    codexMessage('assistant', 'No.'),
    codexMessage('user', 'And c.ts'),
    { type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: 2 } },
    codexMessage('user', 'Rather d.ts'),
  ]);
  expect(summarize(convertCodexSession(text))).toEqual({
    title: 'Fix a.ts',
    texts: [request, 'Fixed.', 'Rather d.ts'],
  });
});

test('an image that a tool of Codex returned stays in its result', () => {
  const output = [
    { type: 'input_text', text: 'a.png' },
    { type: 'input_image', image_url: 'data:image/png;base64,aGk=' },
  ];
  const session = convertCodexSession(
    toLines([
      { type: 'session_meta', payload: { id: 'c', cwd: '/p' } },
      { type: 'response_item', payload: { type: 'function_call', name: 'view', arguments: '{}', call_id: '1' } },
      { type: 'response_item', payload: { type: 'function_call_output', call_id: '1', output } },
    ]),
  );
  const content = [
    { type: 'text', text: 'a.png' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
  ];
  expect(session?.messages.at(-1)).toMatchObject({ blocks: [{ content }] });
});

test('commands of Claude Code itself and what they print are left out', () => {
  const say = (uuid: string, parentUuid: string | null, content: string) => ({
    ...{ type: 'user', uuid, parentUuid, sessionId: 's', cwd: '/p' },
    message: { role: 'user', content },
  });
  const text = toLines([
    { type: 'summary', summary: 'Another session', leafUuid: 'elsewhere' },
    say('1', null, '<command-name>/clear</command-name>\n<command-message>clear</command-message>'),
    say('2', '1', '<local-command-stdout></local-command-stdout>'),
    say('3', '2', '<command-message>plan</command-message>\n<command-name>/plan</command-name>'),
    say('4', '3', 'Plan the parser'),
  ]);
  expect(summarize(convertClaudeSession(text))).toEqual({
    title: 'Plan the parser',
    texts: ['<command-message>plan</command-message>\n<command-name>/plan</command-name>', 'Plan the parser'],
  });
});

test('after a compaction of the first version of pi, the entries from the kept index follow the summary', () => {
  const say = (text: string) => ({ type: 'message', message: { role: 'user', content: [{ type: 'text', text }] } });
  const text = toLines([
    { type: 'session', id: 'p', cwd: '/p' },
    say('one'),
    say('two'),
    { type: 'compaction', summary: 'S1', firstKeptEntryIndex: 2 },
    say('three'),
    { type: 'compaction', summary: 'S2', firstKeptEntryIndex: 2 },
    say('four'),
  ]);
  expect(summarize(convertPiSession(text)).texts).toEqual([
    'Summary of the conversation so far:\n\nS2',
    'two',
    'three',
    'four',
  ]);
});

test('opencode: a summary replaces what came before, and undone messages are left out', () => {
  const say = (id: string, role: string, text: string, more: JsonObject = {}) => ({
    info: { id, role, ...more },
    parts: [{ id: `p${id}`, type: 'text', text }],
  });
  const messages = [
    say('1', 'user', 'Repair it'),
    say('2', 'assistant', 'Done.'),
    { info: { id: '3', role: 'user' }, parts: [{ type: 'compaction', auto: true }] },
    say('4', 'assistant', 'It was repaired.', { summary: true, finish: 'stop' }),
    say('5', 'user', 'Go on'),
    say('6', 'user', 'Delete it'),
    say('7', 'assistant', 'Deleted.'),
  ];
  const session = { id: 'o', directory: '/p', title: 'New session - 2026-09-30T11:37:30.632Z' };
  const converted = convertOpencodeSession({ session: { ...session, revert: { messageID: '6' } }, messages });
  expect({ ...summarize(converted), lost: converted?.lost }).toEqual({
    title: 'Repair it',
    texts: ['Summary of the conversation so far:\n\nIt was repaired.', 'Go on'],
    lost: [],
  });
});

test('opencode: states of the repository that it keeps for undoing are no loss', () => {
  const parts = [
    { type: 'step-start', snapshot: '42d4' },
    { type: 'tool', tool: 'edit', callID: 'c', state: { status: 'completed', input: {}, output: 'Edited.' } },
    { type: 'step-finish', reason: 'tool-calls' },
    { type: 'patch', hash: '42d4', files: ['/p/a.txt'] },
    { type: 'snapshot', snapshot: 'c530' },
  ];
  const session = { id: 'o', directory: '/p' };
  const converted = convertOpencodeSession({ session, messages: [{ info: { role: 'assistant' }, parts }] });
  expect([converted?.messages.length, converted?.lost]).toEqual([2, []]);
});

test('Gemini CLI: neither its description of the machine nor the results that are sent back are prompts', () => {
  const context = '<session_context>\nThe operating system is: linux\n</session_context>';
  const response = { functionResponse: { id: 'read-1', name: 'read_file', response: { output: 'alpha' } } };
  const call = { id: 'read-1', name: 'read_file', args: { file_path: 'a.txt' }, result: [response], status: 'success' };
  const text = toLines([
    { sessionId: 'g', kind: 'main' },
    { $set: { messages: [{ id: '1', type: 'user', content: [{ text: context }] }] } },
    { id: '2', type: 'user', content: [{ text: 'Read it' }] },
    { id: '3', type: 'gemini', content: '', model: 'gemini-2.5-flash' },
    { id: '3', type: 'gemini', content: '', model: 'gemini-2.5-flash', toolCalls: [call] },
    { id: '4', type: 'user', content: [response] },
    { id: '5', type: 'gemini', content: 'It says alpha.', model: 'gemini-2.5-flash' },
  ]);
  const converted = convertGeminiSession(text, '/p');
  expect({ ...summarize(converted), lost: converted?.lost }).toEqual({
    title: 'Read it',
    texts: ['Read it', 'It says alpha.'],
    lost: [],
  });
  const results = converted?.messages.flatMap((message) => (message.role === 'user' ? message.blocks : []));
  expect(results).toContainEqual({ type: 'tool_result', tool_use_id: 'read-1', content: 'alpha' });
});

test('Gemini CLI: a resumed chat, whose calls and results have the same id, keeps both', () => {
  const response = { functionResponse: { id: 'read-1', name: 'read_file', response: { output: 'alpha' } } };
  const call = { id: 'read-1', name: 'read_file', args: { file_path: 'a.txt' }, result: [response], status: 'success' };
  const messages = [
    { id: '2', type: 'user', content: [{ text: 'Read it' }] },
    { id: '3', type: 'gemini', content: [{ functionCall: { id: 'read-1', name: 'read_file' } }], toolCalls: [call] },
    { id: '3', type: 'user', content: [response] },
    { id: '4', type: 'user', content: [response] },
    { id: '5', type: 'gemini', content: [{ text: 'It says alpha.' }] },
  ];
  const text = toLines([
    { sessionId: 'g', kind: 'main' },
    { $set: { messages } },
    { id: '6', type: 'user', content: [{ text: 'Go on' }] },
    { id: '7', type: 'gemini', content: '' },
    { id: '7', type: 'gemini', content: 'Done.' },
    { id: '8', type: 'user', content: [{ text: 'Taken back' }] },
    { $rewindTo: '8' },
  ]);
  const converted = convertGeminiSession(text, '/p');
  expect({ ...summarize(converted), lost: converted?.lost }).toEqual({
    title: 'Read it',
    texts: ['Read it', 'It says alpha.', 'Go on', 'Done.'],
    lost: [],
  });
  expect(converted?.messages[1]).toMatchObject({ blocks: [{ type: 'tool_use', id: 'read-1' }] });
});
