import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { SessionRecord, SessionRecordBody } from '../../contracts/session.ts';
import { getErrnoCode } from '../../lib/errors.ts';
import { readRegularFileSync } from '../../lib/files/read-regular-file.ts';
import { getProjectDir } from '../paths.ts';
import { mergeLiveSettings } from './rebuild-session.ts';

/** The home of the installation key, and the test for the folder in which a session needs no seal. */
type SealContext = { readonly ouroHome: string; readonly isHomeOfSession: (cwd: string) => boolean };

/** Returns the context of the sessions in a folder. */
export function createSealContext(ouroHome: string, dir: string): SealContext {
  return { ouroHome, isHomeOfSession: (cwd) => getProjectDir(ouroHome, cwd) === dir };
}

/**
 * Seals what a record of settings permits with the key of this installation: allow rules, folders, another working
 * directory, and a mode that asks less. Records that permit nothing stay as they are.
 */
export function sealRecordedPermissions(
  body: SessionRecordBody,
  sessionId: string,
  context: SealContext,
): SessionRecordBody {
  if (body.type !== 'system' || body.subtype !== 'live' || !grantsSomething(body.data, context)) return body;
  const key = readKey(context.ouroHome) ?? createKey(context.ouroHome);
  return { ...body, data: { ...body.data, seal: computeSeal(key, sessionId, body.data) } };
}

/**
 * Removes what records permit that this installation has not sealed for the session, and tells whether there was
 * anything. The records that a fork has copied are sealed for the session it comes from: they permit nothing, and need no
 * mention before the first record of its own, which `createForkSettings` has sealed.
 */
export function dropUnsealedPermissions(
  records: readonly SessionRecord[],
  sessionId: string,
  context: SealContext,
): { readonly records: readonly SessionRecord[]; readonly isChanged: boolean } {
  const key = readKey(context.ouroHome);
  const firstOwn = records.findIndex((record) => record.sessionId === sessionId);
  let isChanged = false;
  const checked = records.map((record, index) => {
    if (record.type !== 'system' || record.subtype !== 'live' || !grantsSomething(record.data, context)) return record;
    const isIntact = key !== undefined && isSealed(key, record.sessionId, record.data);
    if (isIntact && record.sessionId === sessionId) return record;
    isChanged ||= !isIntact || index > firstOwn;
    const { cwd, directories: _, mode, grants, ...data }: JsonObject = record.data;
    return {
      ...record,
      data: {
        ...data,
        ...(Array.isArray(grants) ? { grants: grants.filter((grant) => !isAllowing(grant)) } : {}),
        ...(mode === undefined || asksLess(mode) ? {} : { mode }),
        ...(typeof cwd === 'string' && context.isHomeOfSession(cwd) ? { cwd } : {}),
      },
    };
  });
  return { records: checked, isChanged };
}

/** Returns the newest permissions in the records of a session, sealed for a fork; undefined if there are none. */
export function createForkSettings(
  records: readonly SessionRecord[],
  sessionId: string,
  forkId: string,
  context: SealContext,
): SessionRecordBody | undefined {
  const { grants, directories, cwd, mode } = mergeLiveSettings(
    dropUnsealedPermissions(records, sessionId, context).records,
  );
  const named = Object.entries({ grants, directories, cwd, mode }).filter(([, value]) => value !== undefined);
  const data: JsonObject = Object.fromEntries(named);
  if (!grantsSomething(data, context)) return undefined;
  return sealRecordedPermissions({ type: 'system', subtype: 'live', data }, forkId, context);
}

function grantsSomething({ grants, directories, cwd, mode }: JsonObject, { isHomeOfSession }: SealContext): boolean {
  return (
    (Array.isArray(grants) && grants.some(isAllowing)) ||
    (Array.isArray(directories) && directories.length > 0) ||
    (typeof cwd === 'string' && !isHomeOfSession(cwd)) ||
    asksLess(mode)
  );
}

/** Bypass mode is never restored, so it needs no seal. */
const asksLess = (mode: JsonValue | undefined) => mode === 'acceptEdits' || mode === 'auto';

/** Rules that deny or ask only tighten, so they need no seal. */
function isAllowing(grant: JsonValue): boolean {
  const isRule = typeof grant === 'object' && grant !== null && !Array.isArray(grant);
  return !isRule || !('behavior' in grant) || (grant.behavior !== 'deny' && grant.behavior !== 'ask');
}

function computeSeal(key: Buffer, sessionId: string, { grants, directories, cwd, mode }: JsonObject): string {
  const granted = [grants ?? null, directories ?? null, cwd ?? null, ...(asksLess(mode) ? [mode ?? null] : [])];
  return createHmac('sha256', key)
    .update(JSON.stringify([sessionId, ...granted]))
    .digest('base64url');
}

function isSealed(key: Buffer, sessionId: string, data: JsonObject): boolean {
  const expected = Buffer.from(computeSeal(key, sessionId, data));
  const found = Buffer.from(typeof data.seal === 'string' ? data.seal : '');
  return found.length === expected.length && timingSafeEqual(found, expected);
}

const getKeyPath = (ouroHome: string) => join(ouroHome, 'session-key');
const KEY_BYTES = 32;

function readKey(ouroHome: string): Buffer | undefined {
  try {
    const key = Buffer.from(readRegularFileSync(getKeyPath(ouroHome)).toString('utf8').trim(), 'base64url');
    return key.length === KEY_BYTES ? key : undefined;
  } catch {
    // Without a key nothing is sealed.
    return undefined;
  }
}

function createKey(ouroHome: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  try {
    mkdirSync(ouroHome, { recursive: true, mode: 0o700 });
    writeFileSync(getKeyPath(ouroHome), `${key.toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    return key;
  } catch (thrown) {
    // Another process was faster, or nothing can be written: then the seal is worth nothing later, and no more.
    return (getErrnoCode(thrown) === 'EEXIST' ? readKey(ouroHome) : undefined) ?? key;
  }
}
