import { expect, test } from 'vitest';
import type { Message } from '../../src/contracts/message.ts';
import type { SessionRecord } from '../../src/contracts/session.ts';
import { queryDeps } from '../../src/engine/defaults.ts';
import { buildRequest } from '../../src/engine/request.ts';
import { modelInfo } from '../../src/model/catalog.ts';
import { createReplayPort } from '../../src/model/replay.ts';
import { toWire } from '../../src/model/wire/to-wire.ts';
import { readRecords } from '../../src/session/records/read-records.ts';
import { rebuild } from '../../src/session/records/rebuild.ts';
import { violationOf } from '../support/api/validate-request.ts';
import { longTest } from '../support/long-test.ts';
import { isWholeRun } from '../support/runs.ts';
import { AFTER, crashAfter, requestFaults, wholeRun } from './crash-run.ts';

/** The full run of two hundred is `OURO_CRASHES=200`; a few hold the line every day. */
const CRASHES = Number(process.env.OURO_CRASHES ?? (isWholeRun ? 8 : 2));
const PARALLEL = 2;

test('killed at any moment, a session resumes with everything that was accepted, exactly once', {
  timeout: 600_000,
}, async () => {
  const { durationMs, records } = await wholeRun();
  expect(records.length).toBeGreaterThan(40);
  const moments = Array.from({ length: CRASHES }, (_, at) => (durationMs * (at + Math.random())) / CRASHES);
  const faults: string[] = [];
  const take = async () => {
    for (let delayMs = moments.pop(); delayMs !== undefined; delayMs = moments.pop()) {
      const report = await crashAfter(delayMs);
      faults.push(
        ...report.faults.map((fault) => `after ${Math.round(delayMs)} ms, ${report.records} records: ${fault}`),
      );
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, take));
  expect(faults).toEqual([]);
});

const HEADERS = { 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
const NOTHING_ISSUED = { thoughts: new Map<string, string>(), thoughtfulCalls: new Set<string>() };
const MODEL = 'claude-sonnet-4-5';

/** The request a resume of this text would send. */
function resumedRequest(text: string) {
  const { records } = readRecords(text);
  const { messages } = rebuild(records);
  const after: Message = { role: 'user', id: 'after', origin: 'prompt', blocks: [{ type: 'text', text: AFTER }] };
  const deps = queryDeps({ model: createReplayPort([]), config: { chain: [{ model: MODEL }] } });
  const state = {
    modelIndex: 0,
    maxOutputTokensOverride: 1_000,
    stripped: { thinking: false, images: undefined, refused: [] },
  };
  const body = toWire(buildRequest([...messages, after], state, deps), modelInfo(MODEL));
  return {
    records,
    request: { body: JSON.parse(JSON.stringify(body)), violation: violationOf(body, HEADERS, NOTHING_ISSUED) },
  };
}

const linesOf = (records: readonly SessionRecord[]) => records.map((record) => `${JSON.stringify(record)}\n`);

longTest(
  'a file that ends at any record, or within one, gives a valid request that holds everything before once',
  async () => {
    const lines = linesOf((await wholeRun()).records);
    const first = lines.findIndex((line) => line.includes('"type":"user"'));
    for (let count = first + 1; count <= lines.length; count += 1) {
      const whole = lines.slice(0, count).join('');
      const next = lines[count] ?? '';
      for (const torn of ['', next.slice(0, 1), next.slice(0, next.length / 2), next.slice(0, -2)]) {
        const { records, request } = resumedRequest(whole + torn);
        expect(requestFaults(request, records, []), `after record ${count}, torn at ${torn.length}`).toEqual([]);
      }
    }
  },
);
