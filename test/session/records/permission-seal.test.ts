import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/contracts/json.ts';
import type { SessionRecord } from '../../../src/contracts/session.ts';
import {
  createForkSettings,
  dropUnsealedPermissions,
  sealRecordedPermissions,
} from '../../../src/session/records/permission-seal.ts';
import { mergeLiveSettings, rebuildSession } from '../../../src/session/records/rebuild-session.ts';
import { createSessionRecord } from '../../../src/session/records/session-record-writer.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const HEAD = { uuid: 'u', parentUuid: null, timestamp: '2026-01-01T00:00:00.000Z', cwd: '/ws', version: '1.0.0' };
const ALLOW = { rule: 'Bash(rm:*)', behavior: 'allow' };
const DENY = { rule: 'Bash(curl:*)', behavior: 'deny' };
const GRANTED = { model: 'm', grants: [ALLOW, DENY], directories: ['/home/x'], cwd: '/other' };

function createInstallation() {
  const ouroHome = join(createTempFolder(), '.ouro');
  const context = { ouroHome, isHomeOfSession: (cwd: string) => cwd === '/ws' };
  const write = (data: JsonObject, sessionId = 's'): SessionRecord =>
    createSessionRecord(sealRecordedPermissions({ type: 'system', subtype: 'live', data }, sessionId, context), {
      ...HEAD,
      sessionId,
    });
  const read = (record: SessionRecord, id = 's') => dropUnsealedPermissions([record], id, context);
  return { ouroHome, context, write, read };
}

const dataOf = (record: SessionRecord | undefined) =>
  record?.type === 'system' && record.subtype === 'live' ? record.data : undefined;

test('what this installation has written is restored, and its key is private', () => {
  const { ouroHome, write, read } = createInstallation();
  const record = write(GRANTED);
  expect(read(record)).toEqual({ records: [record], isChanged: false });
  expect(statSync(join(ouroHome, 'session-key')).mode & 0o777).toBe(0o600);
  expect(write(GRANTED)).toEqual(record);
});

test('a record that permits nothing needs no seal, as in older sessions', () => {
  const { write, read } = createInstallation();
  const record = write({ model: 'm', grants: [DENY], directories: [], cwd: '/ws', todos: [] });
  expect(dataOf(record)).not.toHaveProperty('seal');
  expect(read(record)).toEqual({ records: [record], isChanged: false });
});

const sealed = (data: JsonObject | undefined) => (typeof data?.seal === 'string' ? data.seal : '');

/** Edits of a sealed record; each would permit more, or something else. */
const EDITS: Readonly<Record<string, (data: JsonObject) => JsonObject>> = {
  'no seal': ({ seal: _, ...data }) => data,
  'an empty seal': (data) => ({ ...data, seal: '' }),
  'a seal that is no text': (data) => ({ ...data, seal: 1 }),
  'a shorter seal': (data) => ({ ...data, seal: sealed(data).slice(0, -1) }),
  'a longer seal': (data) => ({ ...data, seal: `${sealed(data)}A` }),
  'another rule': (data) => ({ ...data, grants: [{ rule: 'Bash', behavior: 'allow' }] }),
  'one more rule': (data) => ({ ...data, grants: [ALLOW, DENY, ALLOW] }),
  'no deny rule': (data) => ({ ...data, grants: [ALLOW] }),
  'a rule without a behavior': (data) => ({ ...data, grants: [{ rule: 'Bash' }] }),
  'a rule of another form': (data) => ({ ...data, grants: ['Bash'] }),
  'another folder': (data) => ({ ...data, directories: ['/'] }),
  'no folder': ({ directories: _, ...data }) => data,
  'another working directory': (data) => ({ ...data, cwd: '/home' }),
  'rules as folders': (data) => ({ ...data, directories: [...['/home/x'], '/etc'] }),
};

test.each(Object.entries(EDITS))('a record with %s restores nothing that it permits', (_, edit) => {
  const { write, read } = createInstallation();
  const record = write(GRANTED);
  const { records, isChanged } = read(Object.assign({}, record, { data: edit(dataOf(record) ?? {}) }));
  const { grants, directories, cwd, model } = dataOf(records[0]) ?? {};
  expect({ isChanged, directories, cwd, model }).toEqual({
    isChanged: true,
    directories: undefined,
    cwd: undefined,
    model: 'm',
  });
  expect(JSON.stringify(grants)).not.toMatch(/allow|"Bash"/);
});

test('a record of another session, installation or key is not restored, but its deny rules are', async () => {
  const [here, there] = [createInstallation(), createInstallation()];
  here.write(GRANTED);
  const foreign = there.write(GRANTED);
  const moved = Object.assign({}, here.write(GRANTED, 'other'), { sessionId: 's' });
  for (const record of [foreign, moved, here.write(GRANTED, 'other')]) {
    const { records, isChanged } = here.read(record);
    expect([isChanged, dataOf(records[0])?.grants]).toEqual([true, [DENY]]);
  }
  const own = here.write(GRANTED);
  await rm(join(here.ouroHome, 'session-key'));
  expect(here.read(own).isChanged).toBe(true);
});

test.each(['acceptEdits', 'auto'])('the mode %s is restored from a sealed record of settings only', (mode) => {
  const { write, read } = createInstallation();
  const record = write({ mode });
  expect(read(record)).toEqual({ records: [record], isChanged: false });
  const edited = read(Object.assign({}, write({ mode: 'plan' }), { data: { mode, model: 'm' } }));
  expect([edited.isChanged, dataOf(edited.records[0])]).toEqual([true, { model: 'm' }]);
  const event: SessionRecord = Object.assign({}, record, { subtype: 'mode', data: { mode } });
  expect(rebuildSession(read(event).records).liveSettings).toEqual({});
});

test.each(['default', 'plan', 'dontAsk'])('the mode %s needs no seal', (mode) => {
  const { write, read } = createInstallation();
  const record = write({ mode });
  expect(dataOf(record)).toEqual({ mode });
  expect(read(record)).toEqual({ records: [record], isChanged: false });
});

test('a fork restores what its own record permits, and mentions copied records only where they were added', () => {
  const { context, write } = createInstallation();
  const granted = write({ ...GRANTED, mode: 'auto' });
  const body = createForkSettings([granted, write({ mode: 'plan' })], 's', 'fork', context);
  const own = createSessionRecord(body ?? { type: 'title', title: '', by: 'person' }, { ...HEAD, sessionId: 'fork' });
  const { model: _, ...authority } = GRANTED;
  expect(dataOf(own)).toEqual({ ...authority, mode: 'plan', seal: expect.any(String) });
  const drop = (...records: readonly SessionRecord[]) => dropUnsealedPermissions(records, 'fork', context);
  expect(drop(granted, own).isChanged).toBe(false);
  expect(dataOf(drop(granted, own).records[0])?.grants).toEqual([DENY]);
  expect(drop(granted, own).records[1]).toBe(own);
  expect([drop(own, granted).isChanged, drop(granted).isChanged]).toEqual([true, true]);
  expect(createForkSettings([write({ model: 'm' })], 's', 'fork', context)).toBeUndefined();
});

test('a key that would be the prototype of the settings restores nothing', () => {
  const { read } = createInstallation();
  const hidden = JSON.stringify({ grants: [ALLOW], directories: ['/'], mode: 'acceptEdits' });
  const data: JsonObject = JSON.parse(`{"model":"m","__proto__":${hidden}}`);
  const record = createSessionRecord({ type: 'system', subtype: 'live', data }, { ...HEAD, sessionId: 's' });
  const { grants, directories, mode } = mergeLiveSettings(read(record).records);
  expect([grants, directories, mode]).toEqual([undefined, undefined, undefined]);
});
