import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createStoredSessionOperations } from '../src/app/replay/session-archive.ts';
import type { SessionRecord, SessionRecordBody } from '../src/contracts/session.ts';
import { getProjectDir } from '../src/session/paths.ts';
import { createSessionRecord } from '../src/session/records/session-record-writer.ts';
import { says } from '../test/support/api/reply.ts';
import { createTempProject, type TempProject } from '../test/support/temp-project.ts';
import { memoryMb, openOuro, PROMPT, withApi } from './programs.ts';
import { type Measure, type Row, repeated } from './row.ts';

const SESSIONS = 2_000;
const BIG_BYTES = 100_000_000;

export const sessions: Measure = {
  name: 'sessions',
  description: `listing and searching ${SESSIONS} sessions, and resuming a session of 100 MB`,
  run: async () => [...(await manySessions()), ...(await bigSession())],
};

async function manySessions(): Promise<readonly Row[]> {
  await using project = await createTempProject();
  const dir = getProjectDir(project.ouroHome, project.dir);
  await mkdir(dir, { recursive: true });
  for (let n = 0; n < SESSIONS; n += 1) {
    const lines = conversation(project, 40, `about subject ${n}`, 400);
    await writeFile(join(dir, `${crypto.randomUUID()}.jsonl`), lines.join(''));
  }
  const archive = createStoredSessionOperations({ ouroHome: project.ouroHome, home: project.home }, project.dir);
  const list = await repeated(5, async () => {
    const startedAt = performance.now();
    const found = await archive.list('folder');
    if (found.length !== SESSIONS) throw new Error(`Only ${found.length} sessions were listed.`);
    return performance.now() - startedAt;
  });
  const search = await repeated(3, async () => {
    const startedAt = performance.now();
    for await (const _ of archive.search('nobody said this', 'folder', new AbortController().signal));
    return performance.now() - startedAt;
  });
  return [
    { name: `list ${SESSIONS} sessions`, unit: 'ms', value: list, must: 150 },
    { name: `search the text of ${SESSIONS} sessions`, unit: 'ms', value: search },
  ];
}

function bigSession(): Promise<readonly Row[]> {
  return withApi({ turns: () => says('ok') }, async ({ project, api }) => {
    const dir = getProjectDir(project.ouroHome, project.dir);
    await mkdir(dir, { recursive: true });
    const path = join(dir, `${crypto.randomUUID()}.jsonl`);
    const chunk = conversation(project, 2_000, 'a long story', 2_500).join('');
    for (let written = 0; written < BIG_BYTES; written += chunk.length) {
      await appendFile(path, chunk.replaceAll(/"(m|u|c|id)-/g, `"$1${written}-`));
    }
    const startedAt = performance.now();
    await using terminal = await openOuro(project, api.url, ['--continue']);
    await terminal.waitForText(PROMPT, 60_000);
    const value = performance.now() - startedAt;
    const { peak } = await memoryMb(terminal.pid);
    return [
      { name: 'resume a session of 100 MB → prompt', unit: 'ms', value, must: 1_200 },
      { name: 'the same: memory', unit: 'MB', value: peak, must: 300 },
      { name: 'the same: bytes painted', unit: 'KB', value: terminal.bytes().length / 1000, must: 300 },
    ];
  });
}

/** Creates the lines of a stored conversation: prompts, replies, calls and results. */
function conversation(project: TempProject, records: number, prompt: string, chars: number): readonly string[] {
  let last: string | null = null;
  const filler = 'All work and no play makes a dull line. '.repeat(chars / 40);
  const line = (body: SessionRecordBody): string => {
    const uuid = `id-${crypto.randomUUID()}`;
    const head = {
      uuid,
      parentUuid: last,
      sessionId: 's',
      timestamp: '2026-01-01T00:00:00Z',
      cwd: project.dir,
      version: '0',
    };
    const record: SessionRecord = createSessionRecord(body, head);
    last = uuid;
    return `${JSON.stringify(record)}\n`;
  };
  return Array.from({ length: Math.ceil(records / 5) }, (_, n) => [
    line({
      type: 'user',
      message: { role: 'user', id: `u-${n}`, origin: 'prompt', blocks: [{ type: 'text', text: prompt }] },
    }),
    line({ type: 'assistant', messageId: `m-${n}`, model: 'm', index: 0, block: { type: 'text', text: filler } }),
    line({
      type: 'assistant',
      messageId: `m-${n}`,
      model: 'm',
      index: 1,
      block: { type: 'tool_use', id: `c-${n}`, name: 'Read', input: {} },
    }),
    line({ type: 'reply', messageId: `m-${n}`, model: 'm', kept: [0, 1], stopReason: 'tool_use' }),
    line({
      type: 'result',
      callId: `c-${n}`,
      tool: 'Read',
      result: { type: 'tool_result', tool_use_id: `c-${n}`, content: filler },
      status: 'done',
      durationMs: 1,
    }),
    line({
      type: 'user',
      message: { role: 'user', id: `u-r${n}`, origin: 'results', blocks: [] },
      results: [`c-${n}`],
    }),
  ]).flat();
}
