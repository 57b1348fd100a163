import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { getProcessIdentity } from '../../src/lib/processes/process-info.ts';
import { getProjectDir } from '../../src/session/paths.ts';
import { parseSessionRecords } from '../../src/session/records/parse-session-records.ts';
import { rebuildSession } from '../../src/session/records/rebuild-session.ts';
import { buildPastEvents } from '../../src/session/resume/past-events.ts';
import { says } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { storedFiles } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const RELEASES = join(import.meta.dirname, '../fixtures/releases');

const expectedSchema = z.record(
  z.string(),
  z.object({
    holds: z.array(z.string()),
    lacks: z.array(z.string()),
    denials: z.array(z.object({ by: z.string(), reason: z.string() })).default([]),
    undone: z.record(z.string(), z.string().nullable()),
  }),
);

const SESSIONS = readdirSync(RELEASES).flatMap((release) => {
  const expected = expectedSchema.parse(JSON.parse(readFileSync(join(RELEASES, release, 'expected.json'), 'utf8')));
  return Object.entries(expected).map(([id, session]) => ({ release, id, ...session }));
});

let project: TempProject;
let server: ApiServer;

afterEach(async () => {
  await server?.close();
  // The digests of the requests were made with other paths, so that a replay has to differ.
  await rm(join(project.ouroHome, 'projects'), { recursive: true, force: true });
  await project.remove();
});

/** Places the sessions and the files of a release into a new project, as if they had been recorded there. */
async function openRelease(release: string): Promise<void> {
  project = await createTempProject();
  server = await startApiServer({ turns: () => says('fine') });
  const names: Readonly<Record<string, string>> = {
    project: project.dir,
    home: project.home,
    api: server.url,
    kernel: 'any',
    owner: `${process.getuid?.()}:${process.getgid?.()}`,
    host: getProcessIdentity().host ?? '',
  };
  const targets = { files: project.dir, sessions: getProjectDir(project.ouroHome, project.dir) };
  for (const [part, target] of Object.entries(targets)) {
    const from = join(RELEASES, release, part);
    for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const to = join(target, path.slice(from.length + 1));
      const content = await readFile(path, 'utf8');
      await mkdir(dirname(to), { recursive: true });
      await writeFile(
        to,
        content.replaceAll(/<(\w+)>/g, (whole, name) => names[name] ?? whole),
      );
      await chmod(to, part === 'files' ? 0o644 : 0o600);
    }
  }
}

const ouro = (...args: readonly string[]) => runHere(project, args, server.url, { env: { IS_SANDBOX: '1' } });

/** Resumes a session with a prompt; returns the texts that its request lacks or holds against expectation. */
async function resumeWith({ id, holds, lacks }: (typeof SESSIONS)[number], prompt: string) {
  expect(await ouro('-p', '--resume', id, prompt)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('fine'),
    stderr: expect.not.stringMatching(/damaged|another ouro|open in/),
  });
  expect(server.all().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  const sent = server.requests().at(-1)?.raw ?? '';
  return {
    missing: [...holds, prompt].filter((text) => !sent.includes(text)),
    unexpected: lacks.filter((text) => sent.includes(text)),
  };
}

async function readSessionFile(id: string) {
  const path = (await storedFiles(project)).find((file) => file.id === id)?.path ?? '';
  return { path, lines: (await readFile(path, 'utf8')).trimEnd().split('\n') };
}

/** The contents of the files that an undo should restore; `null` for one that does not exist. */
function readUndone({ undone }: (typeof SESSIONS)[number]) {
  const paths = Object.keys(undone).map((name) => [name, join(project.dir, name)] as const);
  return Object.fromEntries(paths.map(([name, path]) => [name, existsSync(path) ? readFileSync(path, 'utf8') : null]));
}

/** Adds a field of a coming version to an object, or to each object of a list. */
function addFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addFields);
  if (typeof value !== 'object' || value === null) return value;
  return { ...value, comingField: { nested: ['of a coming version'] } };
}

/** Writes a session on as a coming version would: with unknown fields, records, settings and checkpoint steps. */
function writeAsComingVersion(lines: readonly string[]): string {
  const comingLines = lines.flatMap((line, index) => {
    const record = JSON.parse(line);
    const { parentUuid, sessionId, timestamp, cwd } = record;
    const head = { parentUuid, sessionId, timestamp, cwd, version: '99.0.0' };
    const parts = ['message', 'block', 'result', 'item', 'checkpoint', 'data', 'boundary'] as const;
    const changed = parts.filter((part) => part in record).map((part) => [part, addFields(record[part])]);
    return [
      { ...record, ...Object.fromEntries(changed), version: '99.0.0', comingField: true },
      { v: 1, type: 'coming-kind', uuid: `kind-${index}`, ...head, message: { text: 'of a coming version' } },
      { v: 1, type: 'system', uuid: `subtype-${index}`, ...head, subtype: 'coming-subtype', data: { a: [1] } },
      { v: 1, type: 'system', uuid: `live-${index}`, ...head, subtype: 'live', data: { comingSetting: { a: 1 } } },
      { v: 1, type: 'checkpoint', uuid: `step-${index}`, ...head, checkpoint: { step: 'coming-step', order: 0 } },
    ];
  });
  return comingLines.map((record) => `${JSON.stringify(record)}\n`).join('');
}

test.each(someOf(SESSIONS))('a session of $release is resumed: $id', async (session) => {
  await openRelease(session.release);
  const before = await readSessionFile(session.id);
  expect(await resumeWith(session, 'and now?')).toEqual({ missing: [], unexpected: [] });
  const after = await readSessionFile(session.id);
  expect(after.lines.slice(0, before.lines.length)).toEqual(before.lines);
  const { records } = parseSessionRecords(before.lines.join('\n'));
  const past = buildPastEvents(rebuildSession(records).messages, records, 100);
  expect(past.flatMap(({ event }) => (event.type === 'tool_end' ? (event.denial ?? []) : []))).toEqual(session.denials);
});

longTest.each(SESSIONS.filter(({ undone }) => Object.keys(undone).length > 0))(
  'changes of a session of $release are undone and redone: $id',
  async (session) => {
    await openRelease(session.release);
    const changed = readUndone(session);
    expect(changed).not.toEqual(session.undone);
    expect(await ouro('undo', '--session', session.id)).toMatchObject({ code: 0 });
    expect(readUndone(session)).toEqual(session.undone);
    expect(await ouro('undo', '--redo', '--session', session.id)).toMatchObject({ code: 0 });
    expect(readUndone(session)).toEqual(changed);
  },
);

longTest.each(someOf(SESSIONS))(
  'a session of $release that a coming version wrote on is resumed: $id',
  async (session) => {
    await openRelease(session.release);
    expect(await resumeWith(session, 'and now?')).toEqual({ missing: [], unexpected: [] });
    const { path, lines } = await readSessionFile(session.id);
    await writeFile(path, writeAsComingVersion(lines));
    expect(await ouro('sessions', 'check', session.id)).toMatchObject({ code: 0 });
    const held = { ...session, holds: [...session.holds, 'and now?', 'fine'] };
    expect(await resumeWith(held, 'and then?')).toEqual({ missing: [], unexpected: [] });
    expect(await ouro('undo', '--list', '--session', session.id)).toMatchObject({ code: 0 });
    if (Object.keys(session.undone).length === 0) return;
    expect(await ouro('undo', '--session', session.id)).toMatchObject({ code: 0 });
    expect(readUndone(session)).toEqual(session.undone);
  },
);
