import { expect, test } from 'vitest';
import type { Message } from '../../src/contracts/message.ts';
import type { SessionRecord } from '../../src/contracts/session.ts';
import { completeQueryDeps } from '../../src/engine/default-deps.ts';
import { buildModelRequest } from '../../src/engine/request/build-model-request.ts';
import { getModelInfo } from '../../src/model/built-in-models.ts';
import { buildMessagesRequest } from '../../src/model/providers/anthropic/messages-request.ts';
import { createReplayPort } from '../../src/model/record-replay.ts';
import { parseSessionRecords } from '../../src/session/records/parse-session-records.ts';
import { rebuildSession } from '../../src/session/records/rebuild-session.ts';
import { violationOf } from '../support/api/validate-request.ts';
import { longTest } from '../support/long-test.ts';
import { isWholeRun } from '../support/runs.ts';
import { AFTER, crashAfter, requestFaults, wholeRun } from './crash-run.ts';

/** The full run of two hundred is `OURO_CRASHES=200`; fewer hold the line every day. */
const CRASHES = Number(process.env.OURO_CRASHES ?? (isWholeRun ? 8 : 1));
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
  const { records } = parseSessionRecords(text);
  const { messages } = rebuildSession(records);
  const after: Message = { role: 'user', id: 'after', origin: 'prompt', blocks: [{ type: 'text', text: AFTER }] };
  const deps = completeQueryDeps({ model: createReplayPort([]), config: { chain: [{ model: MODEL }] } });
  const state: Parameters<typeof buildModelRequest>[1] = {
    modelIndex: 0,
    maxOutputTokensOverride: 1_000,
    excluded: { thinking: false, images: undefined, refused: [] },
  };
  const body = buildMessagesRequest(buildModelRequest([...messages, after], state, deps), getModelInfo(MODEL));
  return {
    records,
    request: { body: JSON.parse(JSON.stringify(body)), violation: violationOf(body, HEADERS, NOTHING_ISSUED) },
  };
}

const linesOf = (records: readonly SessionRecord[]) => records.map((record) => `${JSON.stringify(record)}\n`);

longTest('a file that ends at or within any record gives a valid request with everything before it once', async () => {
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
});
