import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ModelEvent, ModelOutcome, ModelPort, ModelRequest } from '../../src/contracts/model.ts';
import { openRecordedModel } from '../../src/model/recorded-model.ts';
import { createTempProject } from '../support/temp-project.ts';

const OPTIONS = { restartable: () => true, overloadLimit: 3 };
const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

const ask = (text: string): ModelRequest => ({
  model: 'm',
  system: [],
  messages: [{ role: 'user', blocks: [{ type: 'text', text }] }],
  tools: [],
  maxOutputTokens: 100,
  breakpoints: [],
  effort: 'auto',
});

/** Calls Read for a path in its folder, with the path split over two deltas; or fails. */
function createPort(folder: string, failure?: 'overloaded' | 'invalid'): ModelPort {
  return {
    name: 'fake',
    async *stream() {
      if (failure !== undefined) return { ok: false, failure: { kind: failure, message: 'no' } };
      const block = { type: 'tool_use' as const, id: 't', name: 'Read', input: { file_path: `${folder}/a` } };
      const json = JSON.stringify(block.input);
      const half = json.indexOf(folder) + 3;
      yield { type: 'input_delta', index: 0, json: json.slice(0, half) };
      yield { type: 'input_delta', index: 0, json: json.slice(half) };
      yield { type: 'block_end', index: 0, block };
      const message = { role: 'assistant' as const, id: 'x', model: 'm', blocks: [block], usage: USAGE };
      return { ok: true, stopReason: 'tool_use', usage: USAGE, message };
    },
  };
}

async function drain(port: ModelPort, text: string): Promise<readonly [readonly ModelEvent[], ModelOutcome]> {
  const events: ModelEvent[] = [];
  const stream = port.stream(ask(text), OPTIONS, new AbortController().signal);
  for (let next = await stream.next(); ; next = await stream.next()) {
    if (next.done === true) return [events, next.value];
    events.push(next.value);
  }
}

test('a recording is replayed in another folder, and at another time', async () => {
  await using project = await createTempProject();
  const file = join(project.dir, 'record.jsonl');
  const here = { workspace: '/srv/one', ouroHome: '/home/a/.ouro', home: '/home/a' };
  const there = { workspace: '/tmp/other place', ouroHome: '/Users/b/.ouro', home: '/Users/b' };
  const recorder = await openRecordedModel(createPort(here.workspace), { mode: 'record', file }, here);
  await drain(recorder, 'In /srv/one on 2026-01-02 tests took 12.5 ms at commit 1f3a9bc');
  const replay = await openRecordedModel(createPort('never'), { mode: 'replay', file }, there);
  const [events, outcome] = await drain(replay, 'In /tmp/other place on 2027-11-12 tests took 9 ms at commit 77aa0b1');
  expect(outcome.ok).toBe(true);
  expect(events).toMatchObject([
    { type: 'input_delta', json: '{"file_path":"/tmp/other place/a"}' },
    { type: 'block_end', block: { input: { file_path: '/tmp/other place/a' } } },
  ]);
  const [, other] = await drain(replay, 'In /tmp/other place on 2027-11-12 nothing happened');
  expect(other).toMatchObject({
    ok: false,
    failure: { message: expect.stringContaining('all recorded replies are used') },
  });
});

test('a failure that is retried is not recorded, a final one is', async () => {
  await using project = await createTempProject();
  const folders = { workspace: '/w', ouroHome: '/o', home: '/h' };
  const file = join(project.dir, 'record.jsonl');
  const target = { mode: 'record', file } as const;
  await drain(await openRecordedModel(createPort('/w', 'invalid'), target, folders), 'x');
  const replay = await openRecordedModel(createPort('/w'), { mode: 'replay', file }, folders);
  expect(await drain(replay, 'x')).toMatchObject([[], { ok: false, failure: { kind: 'invalid' } }]);
  await drain(await openRecordedModel(createPort('/w', 'overloaded'), target, folders), 'x');
  const empty = await openRecordedModel(createPort('/w'), { mode: 'replay', file }, folders);
  const message = 'Request 1 is not in the record: all recorded replies are used.';
  expect(await drain(empty, 'x')).toMatchObject([[], { ok: false, failure: { message } }]);
});
