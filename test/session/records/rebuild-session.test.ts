import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/contracts/message.ts';
import { LOST_TOOL_RESULT } from '../../../src/session/records/conversation-state.ts';
import { parseSessionRecords } from '../../../src/session/records/parse-session-records.ts';
import { rebuildSession } from '../../../src/session/records/rebuild-session.ts';
import { longTest } from '../../support/long-test.ts';
import { isWholeRun, runs } from '../../support/runs.ts';
import { buildConversation, type Exchange, exchanges, memoryDisk, openTest, plain } from '../conversation-events.ts';

async function written(said: readonly Exchange[]) {
  const disk = memoryDisk();
  const { transcript } = openTest({ ouroHome: '/nowhere', fs: disk.fs });
  const reported = buildConversation(said);
  for (const event of reported.events) await transcript.recordEvent(event);
  await transcript.close();
  return { text: disk.text(), ...reported };
}

/** What must hold whatever moment the file ends at. */
function expectSound(messages: readonly Message[], text: string): void {
  const ids = messages.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const calls = message.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const next = messages[at + 1];
    const answers =
      next?.role === 'user'
        ? next.blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
        : [];
    expect(answers).toEqual(calls);
  }
  const { records } = parseSessionRecords(text);
  const dead = new Set(records.flatMap((record) => (record.type === 'tombstone' ? [record.messageId] : [])));
  const sent = JSON.stringify(messages);
  for (const record of records) {
    if (record.type === 'user') expect(ids.filter((id) => id === record.message.id)).toHaveLength(1);
    if (record.type === 'assistant' && !dead.has(record.messageId))
      expect(messages.filter((one) => one.id === record.messageId)).toHaveLength(1);
    if (record.type === 'result') expect(sent.split(JSON.stringify(record.result))).toHaveLength(2);
  }
}

test('a file that ends at any record has every message, block and result once', async () => {
  await fc.assert(
    fc.asyncProperty(exchanges, async (said) => {
      const lines = (await written(said)).text.split('\n').slice(0, -1);
      for (let count = 1; count <= lines.length; count += 1) {
        const text = `${lines.slice(0, count).join('\n')}\n`;
        expectSound(rebuildSession(parseSessionRecords(text).records).messages, text);
      }
    }),
    runs(25),
  );
});

test('a record cut off at any byte is dropped and nothing before it is affected', async () => {
  const { text } = await written([
    {
      prompt: 'é one',
      replies: [
        { text: 'I call.', calls: 2, fate: 'kept' },
        { text: 'Done.', calls: 0, fate: 'kept' },
      ],
    },
  ]);
  const bytes = Buffer.from(text);
  const start = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
  const before = rebuildSession(parseSessionRecords(bytes.subarray(0, start).toString('utf8')).records).messages;
  for (let end = start; end < bytes.length - 1; end += 1) {
    const torn = bytes.subarray(0, end).toString('utf8');
    expect(rebuildSession(parseSessionRecords(torn).records).messages).toEqual(before);
  }
});

test('continuing after a cut-off record keeps both sides', async () => {
  const { text, messages } = await written([
    {
      prompt: 'one',
      replies: [
        { text: 'I call.', calls: 1, fate: 'kept' },
        { text: 'Done.', calls: 0, fate: 'kept' },
      ],
    },
  ]);
  const lines = text.split('\n').slice(0, -1);
  for (const [at, line] of lines.entries()) {
    const half = line.slice(0, Math.floor(line.length / 2));
    const { records, damaged } = parseSessionRecords([...lines.slice(0, at), half, ...lines.slice(at), ''].join('\n'));
    expect(plain(rebuildSession(records).messages)).toEqual(messages);
    expect(damaged).toBe(0);
  }
});

test('a call without a result is marked, and the next prompt follows it', async () => {
  const first = await written([{ prompt: 'one', replies: [{ text: 'I call.', calls: 1, fate: 'kept' }] }]);
  const lines = first.text.split('\n');
  const cut = lines.slice(
    0,
    lines.findIndex((line) => line.includes('"type":"result"')),
  );
  const { messages, dangling } = rebuildSession(parseSessionRecords(cut.join('\n')).records);
  expect(dangling).toMatchObject([{ tool: 'Echo' }]);
  expect(messages.at(-1)).toMatchObject({
    role: 'user',
    blocks: [{ type: 'tool_result', content: LOST_TOOL_RESULT, is_error: true }],
  });
  const next = JSON.stringify({
    v: 1,
    type: 'user',
    uuid: 'later',
    message: { role: 'user', id: 'user-x', origin: 'prompt', blocks: [{ type: 'text', text: 'go on' }] },
  });
  const again = rebuildSession(parseSessionRecords([...cut, next].join('\n')).records);
  expect(again.messages.slice(0, -1)).toEqual(messages);
  expect(again.messages.at(-1)).toMatchObject({ id: 'user-x' });
});

test('the same call id in two turns keeps each its own result', () => {
  const head = { v: 1, timestamp: '', sessionId: 's', cwd: '/', version: '0', parentUuid: null };
  const turn = (n: number) => [
    {
      ...head,
      uuid: `a${n}`,
      type: 'assistant',
      messageId: `m${n}`,
      model: 'm',
      index: 0,
      block: { type: 'tool_use', id: 'call_0', name: 'Echo', input: {} },
    },
    { ...head, uuid: `b${n}`, type: 'reply', messageId: `m${n}`, model: 'm', kept: [0] },
    {
      ...head,
      uuid: `c${n}`,
      type: 'result',
      callId: 'call_0',
      tool: 'Echo',
      status: 'done',
      durationMs: 0,
      result: { type: 'tool_result', tool_use_id: 'call_0', content: `turn ${n}` },
    },
    {
      ...head,
      uuid: `d${n}`,
      type: 'user',
      message: { role: 'user', id: `u${n}`, origin: 'results', blocks: [] },
      results: ['call_0'],
    },
  ];
  const text = [...turn(1), ...turn(2)].map((one) => JSON.stringify(one)).join('\n');
  const results = rebuildSession(parseSessionRecords(text).records).messages.flatMap((message) =>
    message.role === 'user' ? message.blocks : [],
  );
  expect(results).toMatchObject([{ content: 'turn 1' }, { content: 'turn 2' }]);
});

test('when the model got a different result than the tool returned, the sent one is kept', async () => {
  const disk = memoryDisk();
  const { transcript } = openTest({ ouroHome: '/nowhere', fs: disk.fs });
  const { events } = buildConversation([{ prompt: 'one', replies: [{ text: 'I call.', calls: 1, fate: 'kept' }] }]);
  for (const event of events) {
    if (event.type !== 'message_end' || event.message.role !== 'user' || event.message.origin !== 'results') {
      await transcript.recordEvent(event);
      continue;
    }
    const blocks = event.message.blocks.map((block) =>
      block.type === 'tool_result' ? { ...block, content: 'shortened' } : block,
    );
    await transcript.recordEvent({ type: 'message_end', message: { ...event.message, blocks } });
  }
  const last = rebuildSession(parseSessionRecords(disk.text()).records).messages.at(-1);
  expect(last).toMatchObject({ blocks: [{ content: 'shortened' }, { type: 'text' }] });
});

test('after a boundary only kept messages remain, and a rewind before it restores the old ones', async () => {
  const disk = memoryDisk();
  const { transcript } = openTest({ ouroHome: '/nowhere', fs: disk.fs });
  const { events, messages } = buildConversation([
    { prompt: 'one', replies: [{ text: 'A.', calls: 0, fate: 'kept' }] },
    { prompt: 'two', replies: [{ text: 'B.', calls: 0, fate: 'kept' }] },
  ]);
  for (const event of events) await transcript.recordEvent(event);
  const boundary = { role: 'boundary' as const, id: 'b', trigger: 'manual' as const, preTokens: 9 };
  const kept: Message[] = [
    boundary,
    { role: 'user', id: 's', origin: 'summary', blocks: [{ type: 'text', text: 'sum' }] },
  ];
  await transcript.recordEvent({ type: 'compacted', boundary, messages: kept, postTokens: 1 });
  expect(rebuildSession(parseSessionRecords(disk.text()).records).messages).toEqual(kept);
  const second = messages[2]?.id ?? '';
  await transcript.append({ type: 'system', subtype: 'rewind', data: { messageId: second } });
  const back = rebuildSession(parseSessionRecords(disk.text()).records);
  expect(plain(back.messages)).toEqual(messages.slice(0, 2));
  expect(back.incomplete).toBe(false);
});

const GRANTS = [{ rule: 'Bash(ls)', behavior: 'allow' }] as const;

test('settings, the title and the queue have their newest value', async () => {
  const disk = memoryDisk();
  const { transcript } = openTest({ ouroHome: '/nowhere', fs: disk.fs });
  const { events } = buildConversation([{ prompt: 'one', replies: [{ text: 'A.', calls: 0, fate: 'kept' }] }]);
  for (const event of events) await transcript.recordEvent(event);
  await transcript.append({ type: 'system', subtype: 'live', data: { model: 'a', effort: 'low', grants: GRANTS } });
  await transcript.append({ type: 'system', subtype: 'live', data: { model: 'b', mode: 'plan' } });
  await transcript.recordEvent({ type: 'mode', mode: 'acceptEdits' });
  const item = {
    id: 'q',
    lane: 'next' as const,
    message: { role: 'user' as const, id: 'u', origin: 'steer' as const, blocks: [] },
  };
  await transcript.recordEvent({ type: 'queue', item, state: 'queued' });
  await transcript.append({ type: 'title', title: 'Named', by: 'person' });
  const { liveSettings, queued, title } = rebuildSession(parseSessionRecords(disk.text()).records);
  expect(liveSettings).toEqual({ model: 'b', effort: 'low', mode: 'plan', grants: GRANTS });
  expect(queued).toEqual([item]);
  expect(title).toEqual({ type: 'title', title: 'Named', by: 'person' });
});

test('any number of orphaned results costs no time', () => {
  const head = { v: 1, parentUuid: null, sessionId: 's', timestamp: '', cwd: '/', version: '0' };
  const orphans = Array.from({ length: 20_000 }, (_, at) => {
    const result = { type: 'tool_result' as const, tool_use_id: `c${at}`, content: 'x' };
    return {
      ...head,
      uuid: `r${at}`,
      type: 'result' as const,
      callId: `c${at}`,
      tool: 'T',
      result,
      status: 'done',
      durationMs: 1,
    };
  });
  expect(rebuildSession(orphans).messages).toEqual([]);
});

longTest('any number of calls without result and removed messages costs no time', () => {
  const many = isWholeRun ? 20_000 : 4_000;
  const head = { v: 1, parentUuid: null, sessionId: 's', timestamp: '', cwd: '/', version: '0' };
  const calls = Array.from({ length: many }, (_, at) => ({
    ...head,
    uuid: `a${at}`,
    type: 'assistant' as const,
    messageId: `m${at}`,
    model: 'm',
    index: 0,
    block: { type: 'tool_use' as const, id: `c${at % (many - 1_000)}`, name: 'T', input: {} },
  }));
  const { messages, dangling } = rebuildSession(calls);
  expect([messages.length, dangling.length]).toEqual([2 * many, many - 1_000]);
  const tombstones = Array.from({ length: 500 }, (_, at) => ({
    ...head,
    uuid: `t${at}`,
    type: 'tombstone' as const,
    messageId: `m${many - 1 - at}`,
    why: 'taken back',
  }));
  expect(rebuildSession([...calls, ...tombstones]).messages).toHaveLength(2 * many - 501);
});
