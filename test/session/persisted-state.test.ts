import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SessionRecordBody } from '../../src/contracts/session.ts';
import {
  decodeSessionState,
  encodePromptFlags,
  encodeSessionSettings,
  findPreviousRequestHead,
  NEW_SESSION_STATE,
} from '../../src/session/persisted-state.ts';
import { parseSessionRecords } from '../../src/session/records/parse-session-records.ts';
import { rebuildSession } from '../../src/session/records/rebuild-session.ts';
import { createSessionRecord } from '../../src/session/records/session-record-writer.ts';
import type { SessionSettings } from '../../src/session/records/session-settings.ts';
import { createRequestHeadRecorder } from '../../src/session/request-head.ts';
import { createTempFolder } from '../support/temp-folder.ts';

const VERSION = '1.2.3';

/** What a session of these records is when it is resumed. */
function resumed(bodies: readonly SessionRecordBody[]) {
  const lines = bodies.map((body, index) => {
    const uuid = `r${index}`;
    const head = { uuid, parentUuid: null, sessionId: 's', timestamp: '', cwd: '/', version: VERSION };
    return JSON.stringify(createSessionRecord(body, head));
  });
  return decodeSessionState(rebuildSession(parseSessionRecords(lines.join('\n')).records));
}

const SETTINGS: SessionSettings = {
  model: 'm',
  effort: 'high',
  thinkingTokens: 2_000,
  mode: 'plan',
  cwd: '/',
  todos: [{ content: 'look', status: 'in_progress', activeForm: 'Looking' }],
  plan: 'first this',
  outputStyle: 'short',
  grants: [{ rule: 'Bash(ls)', behavior: 'allow' }],
  directories: ['/tmp'],
  files: { '/a': { hash: 'x' } },
  announced: {
    date: '2026-01-02',
    branch: 'main',
    mode: 'plan',
    catalog: {
      skills: [{ name: 'pdf', description: 'Reads PDFs' }],
      agents: [],
      tools: ['Read'],
      mcpInstructions: [{ server: 'docs', instructions: 'Search first.' }],
    },
  },
  instructions: 'Be brief.',
  promptFlags: encodePromptFlags({}),
};

test('every encoded setting is decoded, and the newest value of each applies', () => {
  const { todos, ...rest } = SETTINGS;
  const state = resumed([
    encodeSessionSettings({ ...rest, model: 'old' }),
    encodeSessionSettings({ model: 'm', todos }),
  ]);
  expect(state).toEqual({ ...NEW_SESSION_STATE, ...SETTINGS, lastUuid: 'r1' });
});

// Any JSON may stand for the files: whoever restores them reads them by itself.
test.each(Object.keys(SETTINGS).filter((name) => name !== 'files'))('a damaged %s affects nothing else', (name) => {
  const recorded = { announced: 'told', instructions: 'memoryTold' }[name] ?? name;
  const { [name]: _, ...others }: Readonly<Record<string, unknown>> = { ...SETTINGS };
  const state = resumed([
    encodeSessionSettings(SETTINGS),
    { type: 'system', subtype: 'live', data: { [recorded]: [[1]] } },
  ]);
  expect(state).toEqual({ ...NEW_SESSION_STATE, ...others, lastUuid: 'r1' });
});

test('a folder that is gone, that became a file or that nobody may enter any more is not restored', () => {
  const folder = createTempFolder();
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, 'closed/inner'), { recursive: true });
  const restored = (cwd: string) => resumed([encodeSessionSettings({ cwd: join(folder, cwd), model: 'm' })]);
  expect(restored('closed/inner')).toMatchObject({ cwd: join(folder, 'closed/inner'), model: 'm' });
  chmodSync(join(folder, 'closed'), 0);
  const lost = ['gone', 'file', 'file/inner', ...(process.getuid?.() === 0 ? [] : ['closed', 'closed/inner'])];
  for (const cwd of lost) expect(restored(cwd), cwd).toMatchObject({ cwd: undefined, model: 'm' });
});

test('recorded events are part of the state', () => {
  const item = {
    id: 'q',
    lane: 'next' as const,
    message: { role: 'user' as const, id: 'u', origin: 'steer' as const, blocks: [] },
  };
  const checkpoint = { step: 'prompt', id: 'c', messageId: 'u', prompt: 'go', at: '', order: 1 } as const;
  const state = resumed([
    { type: 'title', title: 'Old name', by: 'first-words' },
    { type: 'title', title: 'Named', by: 'person' },
    { type: 'queue', item, state: 'queued' },
    { type: 'checkpoint', checkpoint },
    { type: 'system', subtype: 'context', data: { level: 'budget' } },
    { type: 'system', subtype: 'mode', data: { mode: 'acceptEdits' } },
  ]);
  expect(state).toEqual({
    ...NEW_SESSION_STATE,
    title: { type: 'title', title: 'Named', by: 'person' },
    lastUuid: 'r5',
    queued: [item],
    checkpoints: [checkpoint],
    context: [{ level: 'budget' }],
  });
});

const HEAD = {
  system: [{ name: 'base', text: 'You help.' }],
  tools: [{ name: 'Read', description: 'Reads', input_schema: {} }],
};

test('the same version with the same flags sends the same prompt head, others do not', () => {
  const state = resumed([
    ...createRequestHeadRecorder()(HEAD),
    encodeSessionSettings({ instructions: 'Be brief.', promptFlags: encodePromptFlags({ agent: 'tester' }) }),
  ]);
  expect(findPreviousRequestHead(state, { agent: 'tester' }, VERSION)).toEqual({
    sent: { ...HEAD, announced: undefined, instructions: 'Be brief.' },
    notice: undefined,
  });
  expect(findPreviousRequestHead(state, {}, VERSION)).toEqual({ sent: undefined, notice: undefined });
  const updated = findPreviousRequestHead(state, { agent: 'tester' }, '2.0.0');
  expect(updated.sent).toBeUndefined();
  expect(updated.notice).toContain('started with ouro 1.2.3');
  expect(findPreviousRequestHead(NEW_SESSION_STATE, {}, VERSION)).toEqual({ sent: undefined, notice: undefined });
});

test('a text already recorded is not written twice', () => {
  const { knownTexts } = resumed(createRequestHeadRecorder()(HEAD));
  expect(createRequestHeadRecorder(knownTexts)(HEAD).map(({ type }) => type)).toEqual(['system']);
});
