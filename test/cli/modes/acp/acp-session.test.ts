import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { expect, test } from 'vitest';
import { createAcpTerminalUpdates } from '../../../../src/cli/modes/acp/acp-session.ts';
import { convertEventToAcp } from '../../../../src/cli/modes/acp/session-updates.ts';
import type { AgentEvent } from '../../../../src/contracts/event.ts';

const ABLE = { _meta: { terminal_output: true } };

const begun = (name: string, id = 'c1'): AgentEvent => ({
  type: 'block_end',
  messageId: 'm',
  index: 0,
  model: 'x',
  block: { type: 'tool_use', id, name, input: { command: 'make' } },
});
const printed = (tail: readonly string[], id = 'c1'): AgentEvent => ({
  type: 'tool_update',
  callId: id,
  progress: { kind: 'output', tail, totalBytes: 1, elapsedMs: 1 },
});
const ended = (output: string, exitCode = 0): AgentEvent => ({
  type: 'tool_end',
  callId: 'c1',
  tool: 'Bash',
  status: 'done',
  durationMs: 1,
  result: { type: 'tool_result', tool_use_id: 'c1', content: output },
  display: { kind: 'output', command: 'make', output, exitCode, hiddenLines: 0 },
});

function shown(events: readonly AgentEvent[], abilities = {}) {
  const dress = createAcpTerminalUpdates(abilities, () => '/project');
  return events.flatMap((event) => dress(event, convertEventToAcp(event)));
}

/** What the terminal shows in the end. */
const screenOf = (updates: readonly SessionUpdate[]) =>
  updates
    .flatMap(({ _meta: meta }) => {
      const said: unknown = meta?.terminal_output;
      return typeof said === 'object' && said !== null && 'data' in said ? [said.data] : [];
    })
    .join('');

test('a command is a terminal with its folder, its output and its exit code; other calls are not', () => {
  const updates = shown(
    [begun('Bash'), printed(['a']), printed(['a', 'b']), ended('a\nb\nc\n', 2), begun('Read', 'c2')],
    ABLE,
  );
  expect(updates).toMatchObject([
    {
      sessionUpdate: 'tool_call',
      content: [{ type: 'terminal', terminalId: 'c1' }],
      _meta: { terminal_info: { terminal_id: 'c1', cwd: '/project' } },
    },
    { _meta: { terminal_output: { terminal_id: 'c1', data: 'a' } } },
    { _meta: { terminal_output: { terminal_id: 'c1', data: '\nb' } } },
    { _meta: { terminal_output: { terminal_id: 'c1', data: '\nc\n' } } },
    { status: 'completed', _meta: { terminal_exit: { terminal_id: 'c1', exit_code: 2, signal: null } } },
    { sessionUpdate: 'tool_call', content: [] },
  ]);
  expect(updates.slice(1, 5).every((update) => !('content' in update))).toBe(true);
});

test('an editor without terminal support gets plain text', () => {
  const events = [begun('Bash'), printed(['a']), ended('a')];
  expect(shown(events)).toEqual(events.flatMap(convertEventToAcp));
  expect(shown(events, { terminal: true })).toEqual(events.flatMap(convertEventToAcp));
});

test.each([
  ['all at the end', [], 'a\nb\n', 'a\nb\n'],
  ['a line that grows', [['ab'], ['abc'], ['abcd', 'e']], 'abcd\ne\n', 'abcd\ne\n'],
  ['the same lines again', [['x'], ['x', 'x'], ['x', 'x']], 'x\nx\nx\n', 'x\nx\nx\n'],
  [
    'lines that went by unseen',
    [
      ['1', '2'],
      ['8', '9'],
    ],
    '1\n2\n8\n9\n10',
    '1\n2\n[…]\n8\n9\n[…]\n1\n2\n8\n9\n10',
  ],
  ['nothing at all', [[], []], '', ''],
])('%s', (_, tails, whole, screen) => {
  expect(screenOf(shown([begun('Bash'), ...tails.map((tail) => printed(tail)), ended(whole)], ABLE))).toBe(screen);
});

test('a refusal is shown in the terminal; a command of a sub-agent stays under its call', () => {
  const refused: AgentEvent = {
    type: 'tool_end',
    callId: 'c1',
    tool: 'Bash',
    status: 'denied',
    durationMs: 1,
    result: { type: 'tool_result', tool_use_id: 'c1', content: 'No commands here.', is_error: true },
  };
  const inner = (event: AgentEvent): AgentEvent => ({
    type: 'subagent',
    callId: 'task',
    agentId: 'a',
    agentType: 'x',
    event,
  });
  const updates = shown([begun('Bash'), refused].map(inner), ABLE);
  expect(screenOf(updates)).toBe('No commands here.');
  expect(updates.map(({ _meta: meta }) => meta?.parentToolCallId)).toEqual(['task', 'task', 'task']);
  expect(updates.at(-1)).toMatchObject({ status: 'failed', _meta: { terminal_exit: { exit_code: 1 } } });
});
