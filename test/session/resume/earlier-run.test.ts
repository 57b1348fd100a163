import { expect, test } from 'vitest';
import type { SessionRecord } from '../../../src/contracts/session.ts';
import {
  listRecordedDenials,
  listTasksEndedWithRun,
  TASKS_ENDED_WITH_RUN,
} from '../../../src/session/resume/earlier-run.ts';

const AROUND = {
  v: 1,
  uuid: 'u',
  parentUuid: null,
  sessionId: 's',
  timestamp: '2026-01-01T00:00:00.000Z',
  cwd: '/project',
  version: '0',
} as const;

test('a denial is recorded with the call and the text for the model', () => {
  const input = { command: 'npm install' };
  const records: readonly SessionRecord[] = [
    {
      ...AROUND,
      type: 'assistant',
      messageId: 'm',
      index: 0,
      model: 'x',
      block: { type: 'tool_use', id: 'c', name: 'Bash', input },
    },
    {
      ...AROUND,
      type: 'permission',
      callId: 'c',
      tool: 'Bash',
      verdict: 'deny',
      trace: ['The answer was no: use pnpm'],
    },
    { ...AROUND, type: 'permission', callId: 'd', tool: 'Read', verdict: 'allow', trace: [] },
    {
      ...AROUND,
      type: 'result',
      callId: 'c',
      tool: 'Bash',
      status: 'denied',
      durationMs: 0,
      result: { type: 'tool_result', tool_use_id: 'c', content: 'use pnpm', is_error: true },
    },
  ];
  expect(listRecordedDenials(records)).toEqual([
    { tool: 'Bash', callId: 'c', input, reason: 'use pnpm', trace: ['The answer was no: use pnpm'] },
  ]);
});

test('what ended with the last run is reported until a message is sent', () => {
  const ended: SessionRecord = {
    ...AROUND,
    type: 'system',
    subtype: TASKS_ENDED_WITH_RUN,
    data: { titles: ['npm run dev'] },
  };
  const said: SessionRecord = {
    ...AROUND,
    type: 'user',
    message: { role: 'user', id: 'm', origin: 'prompt', blocks: [] },
  };
  expect(listTasksEndedWithRun([said, ended])).toEqual(['npm run dev']);
  expect(listTasksEndedWithRun([ended, said])).toEqual([]);
  expect(listTasksEndedWithRun([{ ...ended, data: { titles: 'odd' } }])).toEqual([]);
});
