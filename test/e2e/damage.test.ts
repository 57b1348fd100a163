import { readFile, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Message } from '../../src/contracts/message.ts';
import { createQueryState } from '../../src/engine/query-state.ts';
import { buildModelRequest } from '../../src/engine/request/build-model-request.ts';
import { buildMessagesRequest } from '../../src/model/providers/anthropic/messages-request.ts';
import { decodeSessionState } from '../../src/session/persisted-state.ts';
import { parseSessionRecords } from '../../src/session/records/parse-session-records.ts';
import { completeDanglingCalls, rebuildSession } from '../../src/session/records/rebuild-session.ts';
import { parseRecordedRequestHead } from '../../src/session/request-head.ts';
import { checkSession, repairSession } from '../../src/session/store/check-session.ts';
import { readSessionForResume } from '../../src/session/store/read-session-for-resume.ts';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { violationOfMessages } from '../support/api/validate-messages.ts';
import { startJsonHost } from '../support/json-host.ts';
import { longTest } from '../support/long-test.ts';
import { INFO, scripted } from '../support/loop/scripted.ts';
import { runHere } from '../support/run-here.ts';
import { runs, someOf } from '../support/runs.ts';
import { storedFile } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const PROMPTS = ['the first prompt', 'the second prompt', 'the third prompt', 'the fourth prompt'];
const SUMMARY = 'They spoke of walruses.';
const SETTINGS = { env: { IS_SANDBOX: '1' } };

let project: TempProject;
let server: ApiServer;
let original: Buffer;
let path: string;

/** A session with calls, thoughts and a compaction, as ouro records it. */
beforeAll(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
  const look = () => calls(text('I look.'), toolUse('Read', { file_path: 'a.txt' }));
  const story = 'once upon a time '.repeat(3_000);
  server = await startApiServer({
    turns: [
      look(),
      says(story, { chunk: 50_000, usage: { input_tokens: 3_000, output_tokens: 14_000 } }),
      look(),
      says(story, { chunk: 50_000, usage: { input_tokens: 17_000, output_tokens: 14_000 } }),
      says(`<summary>${SUMMARY}</summary>`),
      look(),
      says('ok'),
      look(),
    ],
    after: says('ok'),
  });
  const host = startJsonHost(project, ['--dangerously-skip-permissions'], server.url, SETTINGS);
  let ended = 0;
  for (const words of [...PROMPTS.slice(0, 2), '/compact', ...PROMPTS.slice(2)]) {
    host.say(words);
    ended += 1;
    const wanted = ended;
    await host.waitFor(() => host.received().filter(({ type }) => type === 'result').length === wanted);
  }
  await host.end();
  ({ path } = await storedFile(project));
  original = await readFile(path);
  expect(boundaryAt(linesOf(original))).toBeGreaterThan(0);
});

afterAll(async () => {
  await server.close();
  await project.remove();
});

const linesOf = (bytes: Buffer) => bytes.toString('latin1').split('\n').slice(0, -1);
const joined = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');
const boundaryAt = (lines: readonly string[]) => lines.findIndex((line) => line.includes('"type":"compact-boundary"'));

/** Ways in which a disk, a crash or a hand at the file damages it. */
const place = fc.nat({ max: 1_000_000 });
const damage: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc.oneof(
  fc.tuple(place, place, fc.nat({ max: 7 })).map(([line, at, bit]) =>
    onLine(line, (words) => {
      const hurt = Buffer.from(words, 'latin1');
      hurt[at % hurt.length] = (hurt[at % hurt.length] ?? 0) ^ (1 << bit);
      return [hurt.toString('latin1')];
    }),
  ),
  fc.tuple(place, place).map(([line, at]) => (bytes: Buffer) => {
    const lines = linesOf(bytes);
    const before = joined(lines.slice(0, line % lines.length)).length;
    const start = before + (at % (lines[line % lines.length]?.length ?? 1));
    return Buffer.from(bytes).fill(0, start, Math.min(bytes.length, start + 4096));
  }),
  fc.tuple(place, place).map(([line, at]) => onLine(line, (words) => [words.slice(0, at % words.length)])),
  place.map((line) => onLine(line, (words) => [words, words])),
  place.map((line) => onLine(line, () => [])),
  fc.tuple(place, place).map(([from, to]) => (bytes: Buffer) => {
    const lines = linesOf(bytes);
    return joined(lines.toSpliced(to % lines.length, 0, lines[from % lines.length] ?? ''));
  }),
  fc
    .tuple(place, place, fc.constantFrom('null', '7', '"x"', '[]', '{}', 'true', '[null]', '{"type":"novelty"}'))
    .map(([line, at, value]) => onLine(line, (words) => [withValue(words, at, value)])),
  place.map((line) =>
    onLine(line, (words) => [
      words.replace('"v":1', '"v":2').replace(/"type":"\w+"(.*?)"uuid":"[^"]*"/, '"type":"later"$1"uuid":"later"'),
      words,
    ]),
  ),
);

function onLine(line: number, change: (words: string) => readonly string[]) {
  return (bytes: Buffer): Buffer => {
    const lines = linesOf(bytes);
    return joined(lines.flatMap((words, at) => (at === line % lines.length ? change(words) : [words])));
  };
}

/** One of the values of a line replaced by another. */
function withValue(words: string, at: number, value: string): string {
  const places = [...words.matchAll(/":(?=["\d[{tfn])/g)].map((match) => match.index + 2);
  const from = places[at % places.length] ?? 0;
  const rest = words.slice(from);
  const [old = ''] = /^(?:"(?:[^"\\]|\\.)*"|\d+|true|false|null|\[[^[\]]*\]|\{[^{}]*\})/.exec(rest) ?? [];
  return old === '' ? words : words.slice(0, from) + value + rest.slice(old.length);
}

/** The prompts that must be there: their line is whole, and no whole boundary stands behind it. */
function readable(bytes: Buffer): readonly string[] {
  const whole = linesOf(original);
  const lines = linesOf(bytes);
  const boundary = whole[boundaryAt(whole)] ?? '';
  const first = lines.indexOf(boundary);
  return PROMPTS.filter((prompt) => {
    const line = whole.find((one) => one.startsWith('{"v":1,"type":"user"') && one.includes(prompt)) ?? '';
    return lines.some((one, at) => one === line && at > first);
  });
}

/** What to look at when something is missing. */
function damagedLine(bytes: Buffer): string {
  const whole = linesOf(original);
  return (linesOf(bytes).find((line, at) => line !== whole[at]) ?? 'a line is gone').slice(0, 2_000);
}

async function resumed(bytes: Buffer) {
  await writeFile(path, bytes);
  const rebuilt = rebuildSession((await readSessionForResume(path)).records);
  const { messages } = await completeDanglingCalls(rebuilt, async () => []);
  const state = decodeSessionState(rebuilt);
  if (state.requestHead !== undefined) parseRecordedRequestHead(state.requestHead);
  const deps = scripted([]);
  const history: readonly Message[] = [...messages];
  return buildMessagesRequest({ ...buildModelRequest(history, createQueryState(history), deps), effort: 'off' }, INFO);
}

longTest(
  'whatever one fault does to the file, the resumed request is valid and has everything readable',
  async () => {
    await fc.assert(
      fc.asyncProperty(damage, async (hurt) => {
        const bytes = hurt(original);
        const wire = await resumed(bytes);
        const nothing = { thoughts: new Map<string, string>(), thoughtfulCalls: new Set<string>() };
        expect(violationOfMessages(wire, nothing) ?? 'fine', damagedLine(bytes)).toBe('fine');
        const sent = JSON.stringify(wire.messages);
        expect(
          readable(bytes).filter((prompt) => !sent.includes(prompt)),
          damagedLine(bytes),
        ).toEqual([]);
      }),
      runs(1_000),
    );
  },
  120_000,
);

test.each(
  someOf([
    ['torn', (line: string) => line.slice(0, line.length / 2)],
    ['filled with NULs', (line: string) => `${line.slice(0, 100)}${'\0'.repeat(line.length - 100)}`],
    ['flipped in its messages', (line: string) => line.replace('"messages"', '"messagec"')],
    ['flipped in a role', (line: string) => line.replace('"role":"user"', '"role":"usar"')],
    ['gone', () => ''],
  ]),
)('a compaction that is %s leaves all prompts', async (_, hurt) => {
  const lines = linesOf(original);
  const at = boundaryAt(lines);
  await writeFile(path, joined(lines.with(at, hurt(lines[at] ?? ''))));
  const before = server.requests().length;
  const end = await runHere(
    project,
    ['-p', '--continue', 'and now?', '--dangerously-skip-permissions'],
    server.url,
    SETTINGS,
  );
  expect(end.code).toBe(0);
  const first = server.requests()[before];
  expect(first?.violation).toBeUndefined();
  expect(PROMPTS.filter((prompt) => first?.raw.includes(prompt) !== true)).toEqual([]);
});

longTest('a prompt is read however its line is named, and whatever role it has', () => {
  const message = { role: 'user', id: 'm', origin: 'prompt', blocks: [{ type: 'text', text: 'words' }] };
  const line = { v: 1, type: 'user', uuid: 'u', timestamp: 'now', message };
  const hurt = [
    { ...line, type: 'usar' },
    { ...line, message: { ...message, role: 'usar' } },
    { ...line, message: { ...message, origin: 7 } },
    { ...line, message: { ...message, blocks: [{ type: 'tezt', text: 'words' }] } },
    { v: 1, type: 'user', uuid: 'u', timestamp: 'now', messagf: message },
  ];
  for (const one of hurt) {
    const { messages } = rebuildSession(parseSessionRecords(`${JSON.stringify(one)}\n`).records);
    expect(messages).toMatchObject([{ role: 'user', blocks: [{ type: 'text', text: 'words' }] }]);
  }
});

longTest('a second repair keeps the backup of the first one', async () => {
  await writeFile(path, Buffer.concat([original, Buffer.from('first damage\n')]));
  const first = await repairSession({ path });
  await writeFile(path, Buffer.concat([original, Buffer.from('second damage\n')]));
  const second = await repairSession({ path });
  const kept = [first, second].map((done) => (done.ok ? done.backup : done.problem));
  expect(kept).toEqual([`${path}.damaged`, `${path}.damaged-2`]);
  expect(
    await Promise.all(kept.map(async (copy) => (await readFile(copy, 'utf8')).trimEnd().split('\n').at(-1))),
  ).toEqual(['first damage', 'second damage']);
  expect(await checkSession({ id: 's', path })).toMatchObject({ words: 'sound' });
});
