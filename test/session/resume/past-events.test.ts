import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { AssistantBlock, Message } from '../../../src/contracts/message.ts';
import type { SessionRecord } from '../../../src/contracts/session.ts';
import { createEventRecorder } from '../../../src/session/records/event-records.ts';
import { rebuildSession } from '../../../src/session/records/rebuild-session.ts';
import { createSessionRecord } from '../../../src/session/records/session-record-writer.ts';
import { buildPastEvents } from '../../../src/session/resume/past-events.ts';

type Timed = readonly [second: number, event: AgentEvent | { readonly spentUsd: number }];

/** The records that events leave, each at its second. */
function recordsOf(reported: readonly Timed[]): readonly SessionRecord[] {
  const bodiesOf = createEventRecorder();
  return reported.flatMap(([second, event], at) => {
    const bodies =
      'type' in event ? bodiesOf(event) : [{ type: 'system' as const, subtype: 'live', data: { ...event } }];
    return bodies.map((body, part) =>
      createSessionRecord(body, {
        uuid: `r${at}-${part}`,
        parentUuid: null,
        sessionId: 's',
        timestamp: new Date(second * 1000).toISOString(),
        cwd: '/p',
        version: '1',
      }),
    );
  });
}

const prompt = (id: string): AgentEvent => ({
  type: 'message_end',
  message: { role: 'user', id, origin: 'prompt', blocks: [{ type: 'text', text: id }] },
});
const block = (messageId: string, index: number, one: AssistantBlock): AgentEvent => ({
  type: 'block_end',
  messageId,
  index,
  model: 'm',
  block: one,
});
const joined = (id: string, ...blocks: readonly AssistantBlock[]): AgentEvent => ({
  type: 'message_end',
  message: { role: 'assistant', id, model: 'm', blocks },
});
const answered = (id: string, callId: string): AgentEvent => ({
  type: 'message_end',
  message: {
    role: 'user',
    id,
    origin: 'results',
    blocks: [{ type: 'tool_result', tool_use_id: callId, content: 'ok' }],
  },
});
const ended = (callId: string, durationMs: number, more: Partial<Extract<AgentEvent, { type: 'tool_end' }>> = {}) =>
  ({
    type: 'tool_end',
    callId,
    tool: 'Bash',
    result: { type: 'tool_result', tool_use_id: callId, content: 'ok' },
    status: 'done',
    durationMs,
    ...more,
  }) as const;
const over: AgentEvent = { type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 5000 };

const THOUGHT: AssistantBlock = { type: 'thinking', thinking: 'hm', signature: 's' };
const WORDS: AssistantBlock = { type: 'text', text: 'So.' };
const CALL: AssistantBlock = { type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'ls' } };

function retold(reported: readonly Timed[], turns = 2) {
  const records = recordsOf(reported);
  return buildPastEvents(rebuildSession(records).messages, records, turns);
}

test('thinking lasts from its first token, or from the block before it, to its end', () => {
  const turn = {
    type: 'turn_end',
    turn: 1,
    model: 'm',
    messageId: 'm1',
    durationMs: 9000,
    firstTokenMs: 1000,
  } as const;
  const events = retold([
    [0, prompt('u1')],
    [7, block('m1', 0, THOUGHT)],
    [8, block('m1', 1, WORDS)],
    [9, block('m1', 2, THOUGHT)],
    [10, joined('m1', THOUGHT, WORDS, THOUGHT)],
    [10, turn],
    [10, over],
  ]);
  const thoughts = events.flatMap(({ event, atMs }) =>
    event.type === 'block_start' || (event.type === 'block_end' && event.block.type === 'thinking')
      ? [`${event.type} ${atMs / 1000}`]
      : [],
  );
  expect(thoughts).toEqual(['block_start 2', 'block_end 7', 'block_start 8', 'block_end 9']);
});

test('the duration of a call excludes the time of the question', () => {
  const events = retold([
    [0, prompt('u1')],
    [1, block('m1', 0, CALL)],
    [1, joined('m1', CALL)],
    [40, { type: 'permission_decision', callId: 'c', tool: 'Bash', input: {}, verdict: 'allow', trace: [] }],
    [42, ended('c', 41_000)],
    [42, answered('u2', 'c')],
  ]);
  const times = events.flatMap(({ event, atMs }) => {
    if (event.type === 'tool_start') return [`starts ${atMs}`];
    return event.type === 'tool_end' ? [`ends ${atMs} after ${event.durationMs}`] : [];
  });
  expect(times).toEqual(['starts 40000', 'ends 42000 after 2000']);
});

test('runs have their start, end and cost; a killed run has no end', () => {
  const run = (at: number, spentUsd: number): readonly Timed[] => [
    [at, prompt(`u${at}`)],
    [at + 1, block(`m${at}`, 0, WORDS)],
    [at + 1, joined(`m${at}`, WORDS)],
    [at + 2, { spentUsd }],
    [at + 2, over],
  ];
  const reported = [...run(0, 1), ...run(10, 3), ...run(20, 4), ...run(30, 9).slice(0, 3)];
  const told2 = (turns: number) =>
    retold(reported, turns).flatMap(({ event, costUsd }) =>
      event.type === 'agent_start' || event.type === 'agent_end' ? [`${event.type} ${costUsd}`] : [],
    );
  expect(told2(2)).toEqual(['agent_start 3', 'agent_end 4', 'agent_start 4']);
  expect(told2(3)).toEqual(['agent_start 1', 'agent_end 3', 'agent_start 3', 'agent_end 4', 'agent_start 4']);
});

test('damaged or foreign records leave the call with its text', () => {
  const reported: readonly Timed[] = [
    [0, prompt('u1')],
    [1, block('m1', 0, CALL)],
    [1, joined('m1', CALL)],
    [2, ended('c', 100, { display: { kind: 'text', text: 'shown' } })],
    [2, answered('u2', 'c')],
    [3, over],
  ];
  const damaged: readonly object[] = [
    { display: 'text' },
    { display: { kind: 'diff', path: 1 } },
    { display: { kind: 'unheard of' } },
    { display: null, durationMs: 'long' },
    { status: 'unheard of' },
    { status: undefined, display: undefined },
  ];
  for (const harm of damaged) {
    const records = recordsOf(reported).map((record) => (record.type === 'result' ? { ...record, ...harm } : record));
    const ends = buildPastEvents(rebuildSession(records).messages, records, 2).filter(
      ({ event }) => event.type === 'tool_end',
    );
    expect(ends).toMatchObject([{ event: { callId: 'c', status: 'done', result: { content: 'ok' } } }]);
    expect(ends[0]?.event).not.toHaveProperty('display');
  }
});

test('calls with the same provider id in every turn keep their own ends', () => {
  const turn = (at: number, text: string): readonly Timed[] => [
    [at, prompt(`u${at}`)],
    [at + 1, block(`m${at}`, 0, CALL)],
    [at + 1, joined(`m${at}`, CALL)],
    [at + 2, ended('c', 100, { display: { kind: 'text', text } })],
    [at + 2, answered(`a${at}`, 'c')],
    [at + 3, over],
  ];
  const events = retold([...turn(0, 'one'), ...turn(10, 'two')]);
  const shown = events.flatMap(({ event }) =>
    event.type === 'tool_end' && event.display?.kind === 'text' ? [event.display.text] : [],
  );
  expect(shown).toEqual(['one', 'two']);
});

test('messages without records are described by their content', () => {
  const messages: readonly Message[] = [
    { role: 'user', id: 'u', origin: 'prompt', blocks: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', id: 'm', model: 'm', blocks: [WORDS, CALL] },
    {
      role: 'user',
      id: 'r',
      origin: 'results',
      blocks: [{ type: 'tool_result', tool_use_id: 'c', content: 'no', is_error: true }],
    },
  ];
  const kinds = buildPastEvents(messages, [], 2).map(({ event }) => event.type);
  expect(kinds).toEqual([
    'agent_start',
    'message_end',
    'block_end',
    'tool_start',
    'message_end',
    'tool_end',
    'message_end',
  ]);
});
