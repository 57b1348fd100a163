import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createCheckpoints } from '../../../src/checkpoints/create-checkpoints.ts';
import type { CheckpointEntry } from '../../../src/contracts/session.ts';
import { createFileLocks } from '../../../src/lib/files/file-locks.ts';
import { decodeSessionState } from '../../../src/session/persisted-state.ts';
import { parseSessionRecords } from '../../../src/session/records/parse-session-records.ts';
import { rebuildSession } from '../../../src/session/records/rebuild-session.ts';
import { says } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { someOf } from '../../support/runs.ts';
import { storedFile } from '../../support/stored-sessions.ts';
import { createTempFolder } from '../../support/temp-folder.ts';
import { createTempProject } from '../../support/temp-project.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

let folder: string;

beforeAll(async () => {
  folder = createTempFolder();
});

const HASH = 'a'.repeat(64);
const head = { v: 1, parentUuid: null, sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/', version: '1' };
const message = { role: 'user', id: 'm', origin: 'prompt', blocks: [{ type: 'text', text: 'hello' }] };
const PROMPT = { ...head, uuid: 'u', type: 'user', message };
const FILE = { kind: 'file', hash: HASH, mode: 0o644, owner: '0:0', attributes: { a: 'AA==' } };

const LIVE: Json = {
  model: 'm',
  effort: 'high',
  thinkingTokens: 2000,
  mode: 'plan',
  cwd: '/tmp',
  spentUsd: 1,
  todos: [{ content: 'look', status: 'pending', activeForm: 'Looking' }],
  plan: 'first this',
  worked: { turns: 1, added: 2, removed: 3 },
  outputStyle: 'short',
  grants: [{ rule: 'Bash(ls)', behavior: 'allow' }],
  directories: ['/tmp'],
  files: { files: [{ path: '/a', mtimeMs: 1, size: 1, hash: 'x', ranges: ['1-2'], changed: true }] },
  reported: {
    date: '2026-01-02',
    branch: 'main',
    mode: 'plan',
    answering: { language: 'en', style: { name: 'a', text: 'b' } },
    catalog: { skills: [], agents: [], tools: ['Read'], mcpInstructions: [{ server: 'a', instructions: 'b' }] },
  },
  memoryTold: 'Be brief.',
  promptFlags: '',
};

const ENTRIES: readonly Json[] = [
  { step: 'prompt', id: 'p', messageId: 'm', prompt: 'hello', at: '2026-01-01', order: 1 },
  { step: 'change', id: 'c', order: 2, path: '/nowhere/a', before: FILE, after: { kind: 'absent' }, until: 3 },
  { step: 'change', id: 'd', order: 4, path: '/nowhere/b', before: { kind: 'link', target: 'x' }, after: FILE },
  { step: 'command', id: 'e', order: 5, root: '/nowhere', manifest: '5', notKept: ['big'] },
  { step: 'command-end', order: 5 },
  { step: 'undoing', id: 'p', order: 6, replaced: [{ path: '/nowhere/a', before: FILE, after: FILE }] },
  { step: 'undone', id: 'p', order: 6, paths: ['/nowhere/a'] },
  { step: 'redone', undone: 6, order: 7 },
  { step: 'left', id: 'p', order: 8 },
];

/** The records of three kinds, each with the path to the part whose fields are replaced. */
const RECORDS: readonly Json[] = [
  { ...head, uuid: 'live', type: 'system', subtype: 'live', data: LIVE },
  {
    ...head,
    uuid: 'queue',
    type: 'queue',
    state: 'queued',
    item: { id: 'q', lane: 'next', message: { ...message, id: 'q' } },
  },
  ...ENTRIES.map((checkpoint, index) => ({ ...head, uuid: `c${index}`, type: 'checkpoint', checkpoint })),
];

/** Returns the step of a checkpoint, or the kind of another record. */
const nameRecord = (record: Json) =>
  /"step":"([\w-]+)"/.exec(JSON.stringify(record))?.[1] ?? (record === RECORDS[0] ? 'live' : 'queue');

const deep = (levels: number): Json => (levels === 0 ? 'x' : { a: deep(levels - 1) });
const ODD: readonly Json[] = [
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
  'odd',
  '\u0000',
  '../../x',
  [],
  [null],
  {},
  { kind: 'socket' },
  deep(600),
];
const HEAD_FIELDS = ['v', 'uuid', 'parentUuid', 'sessionId', 'timestamp', 'cwd', 'version', 'type', 'subtype', 'step'];

/** The value with each of its fields, at any depth, replaced or left out, one at a time. */
function* replaceFields(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      for (const odd of [...ODD, ...replaceFields(item)]) yield value.map((other, at) => (at === index ? odd : other));
    return;
  }
  for (const [name, field] of Object.entries(value)) {
    if (HEAD_FIELDS.includes(name)) continue;
    yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
    for (const odd of [...ODD, ...replaceFields(field)]) yield { ...value, [name]: odd };
  }
}

/** Opens a session of these records as a resume does, and uses its checkpoints. */
async function open(records: readonly unknown[]) {
  const lines = records.map((record) => JSON.stringify(record)).join('\n');
  const { damaged, salvaged, records: parsed } = parseSessionRecords(lines);
  const state = decodeSessionState(rebuildSession(parsed));
  const entries: CheckpointEntry[] = [...state.checkpoints];
  const checkpoints = createCheckpoints({
    folder: join(folder, 'checkpoints'),
    roots: () => [folder],
    skip: [],
    home: folder,
    locks: createFileLocks(folder),
    isBackgroundRunning: () => false,
    entries,
    append: async (entry) => void entries.push(entry),
    warn: () => undefined,
    newId: () => 'n',
    now: () => 0,
  });
  for (const { id } of await checkpoints.list()) await checkpoints.previewRestore(id);
  await checkpoints.listTurnChanges();
  const messages = rebuildSession(parsed).messages.length;
  return { messages, damage: damaged + salvaged, queued: state.queued };
}

test.each(RECORDS.map((record) => [nameRecord(record), record] as const))(
  'whatever a field of the record %s contains, the session opens and nothing else is lost',
  async (_, record) => {
    const others = RECORDS.filter((other) => other !== record);
    expect(await open([PROMPT, ...RECORDS])).toMatchObject({ messages: 1, damage: 0 });
    const isQueue = JSON.stringify(record).includes('"type":"queue"');
    for (const odd of someOf([...replaceFields(record)], 4)) {
      const { messages, queued } = await open([PROMPT, odd, ...others]);
      expect({ messages, queued: isQueue ? 1 : queued.length }).toEqual({ messages: 1, queued: 1 });
    }
  },
);

const bad = (data: Json) => ({ ...head, uuid: 'bad', type: 'system', subtype: 'live', data });

test('an invalid value counts as damage, is not replaced by an older one, and hides nothing else', () => {
  const read = (records: readonly unknown[]) => {
    const {
      salvaged,
      damaged,
      records: parsed,
    } = parseSessionRecords(records.map((record) => JSON.stringify(record)).join('\n'));
    const { model, mode, plan } = decodeSessionState(rebuildSession(parsed));
    return { salvaged, damaged, model, mode, plan };
  };
  expect(read([RECORDS[0], bad({ model: 7, mode: 'warp', plan: 'then that' })])).toEqual({
    salvaged: 1,
    damaged: 0,
    model: undefined,
    mode: undefined,
    plan: 'then that',
  });
  expect(read([RECORDS[0], bad({ newSetting: { of: 'tomorrow' } })])).toMatchObject({ salvaged: 0, damaged: 0 });
});

test('the text of a queued message is kept whatever else its record lost', async () => {
  const { queued, damage } = await open([
    PROMPT,
    {
      ...head,
      uuid: 'q1',
      type: 'queue',
      item: { lane: 'later', message: { blocks: [{ type: 'text', text: 'keep me' }] } },
    },
  ]);
  expect([damage, queued]).toEqual([
    1,
    [
      {
        id: 'q1',
        lane: 'after',
        message: { role: 'user', id: 'q1', origin: 'prompt', blocks: [{ type: 'text', text: 'keep me' }] },
      },
    ],
  ]);
});

test.each(someOf(ODD, 3).map((odd) => [JSON.stringify(odd).slice(0, 30), odd] as const))(
  'a session whose every setting, checkpoint and queue is %s resumes, answers and reports the damage',
  async (_, odd) => {
    await using project = await createTempProject();
    await using server = await startApiServer({ turns: () => says('Fine.') });
    const first = await composed(project, server.url);
    await first.conversation.agent.prompt('hello');
    await first.close();
    const { id, path } = await storedFile(project);
    const live = Object.fromEntries(Object.keys({ ...Object(LIVE) }).map((name) => [name, odd]));
    const lines = [
      bad(live),
      ...ENTRIES.map((entry, index) => ({
        ...head,
        uuid: `x${index}`,
        type: 'checkpoint',
        checkpoint: { ...Object(entry), path: odd, before: odd, replaced: odd },
      })),
      { ...head, uuid: 'y', type: 'queue', state: odd, item: odd },
    ];
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { flag: 'a' });
    const again = await composed(project, server.url, { session: { kind: 'resume', wanted: id, fork: 'same' } });
    expect(again.conversation.info().warnings.join()).toContain('was damaged');
    expect((await again.conversation.agent.prompt('again')).reason).toBe('completed');
    await again.command('undo');
    await again.close();
  },
);
