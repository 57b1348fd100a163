import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  disconnectAt,
  emptyReply,
  endBodyAt,
  errorAt,
  imageTooLarge,
  keepOpenAfterEnd,
  maxTokensReply,
  overloaded,
  pausedReply,
  rateLimited,
  refusalReply,
  sendGarbageAt,
  sendPingsAt,
  sendUnknownEventsAt,
  stallAt,
  unreadableImage,
  windowExceededReply,
} from '../support/api/faults.ts';
import {
  type ApiTurn,
  brokenToolUse,
  calls,
  hang,
  htmlError,
  promptTooLong,
  refusedSignature,
  reply,
  reset,
  type StreamFault,
  says,
  status,
  text,
  thinking,
  toolUse,
} from '../support/api/reply.ts';
import { type Script, startApiServer } from '../support/api/server.ts';
import { startJsonHost } from '../support/json-host.ts';
import { longTest } from '../support/long-test.ts';
import { type HereEnd, runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { replayAll } from '../support/stored-sessions.ts';
import { createTempProject } from '../support/temp-project.ts';

// Long enough for a machine that has much else to do, short enough to be waited for.
const PATIENCE = { OURO_STREAM_IDLE_TIMEOUT_MS: '2000', OURO_HEADER_TIMEOUT_MS: '3000' };
const never = new Promise<never>(() => undefined);
const fine = says('All is well here.');
const half = (...faults: readonly StreamFault[]) => says('All is well here.', { chunk: 4, faults });
const read = () => toolUse('Read', { file_path: 'a.txt' });

/** In the stream of a reply, by count and by name, before it is known why it ends. */
const MOMENTS = [0, 1, 5, 'content_block_stop', 'message_delta'];

type Prompt = {
  readonly what: string;
  readonly turns: readonly ApiTurn[];
  /** How the run ends; well, and with the usual words, when nothing is said. */
  readonly end?: object;
};

/** One prompt after the other, in one conversation: every history is sent again with the next. */
const PROMPTS: readonly Prompt[] = [
  {
    what: '500, 502 with a web page, 503, 529, 408 and a reset are tried again',
    turns: [status(500), htmlError(502), status(503), overloaded(), status(408), reset(), fine],
  },
  { what: 'a request without an answer is tried again', turns: [hang(), fine] },
  { what: 'a reply is cut short, at any point', turns: [...MOMENTS.map((at) => half(disconnectAt(at))), fine] },
  { what: 'a body ends too early, at any point', turns: [...MOMENTS.map((at) => half(endBodyAt(at))), fine] },
  {
    what: 'a reply is cut before its very last event, which says nothing',
    turns: [half(disconnectAt('message_stop'))],
  },
  { what: 'a body ends before its very last event', turns: [half(endBodyAt('message_stop'))] },
  {
    what: 'errors and rubbish in the middle',
    turns: [
      half(...errorAt(5)),
      half(...errorAt(1)),
      half(...errorAt(4, 'api_error', 'Internal')),
      half(...errorAt(4, 'rate_limit_error', 'Slow down')),
      half(sendGarbageAt(4), disconnectAt(5)),
      fine,
    ],
  },
  { what: 'silence, or nothing but pings', turns: [half(stallAt(5, never)), half(sendPingsAt(5, never)), fine] },
  { what: 'a wish to wait up to a minute is waited out', turns: [rateLimited(1), fine] },
  { what: 'a socket stays open after message_stop', turns: [half(keepOpenAfterEnd())] },
  {
    what: 'unknown events, deltas and blocks are passed over and never sent back',
    turns: [
      reply([{ type: 'hologram', beam: 'blue' }, text('I look.'), read()], { faults: sendUnknownEventsAt(6, 1) }),
      fine,
    ],
  },
  {
    what: 'a cut after a finished call keeps its result, and the loop goes on',
    turns: [
      reply([text('I look.'), read(), text('and then some more')], {
        chunk: 2,
        delayMs: 10,
        faults: [disconnectAt(24)],
      }),
      fine,
    ],
  },
  { what: 'an empty reply is nudged once', turns: [emptyReply(), fine] },
  { what: 'a paused turn is taken up again', turns: [pausedReply(text('Still at it.')), fine] },
  {
    what: 'half a call is never run: first more room is given, then the model goes on',
    turns: [
      maxTokensReply(text('I write.'), brokenToolUse('Write', '{"file_path":"b.txt","content":"half of')),
      maxTokensReply(text('I write.'), brokenToolUse('Write', '{"file_path":"b.txt","content":"half of')),
      fine,
    ],
  },
  {
    what: 'a refusal is no success',
    turns: [refusalReply()],
    end: { is_error: true, terminal_reason: 'refusal' },
  },
  {
    what: 'a limit that lasts stops at once and says when to come back',
    turns: [rateLimited(3600)],
    end: { is_error: true, result: expect.stringMatching(/60 minutes.*Try again after \d\d:\d\d/s) },
  },
  {
    what: 'a refused key',
    turns: [status(403)],
    end: { is_error: true, result: expect.stringMatching(/refused the credentials.*permission/s) },
  },
  {
    what: 'a refused request',
    turns: [status(400, 'metadata: nonsense')],
    end: { is_error: true, result: expect.stringMatching(/refused the request.*metadata: nonsense/s) },
  },
  {
    what: '200 with a web page',
    turns: [htmlError(200)],
    end: { is_error: true, result: expect.stringMatching(/web page instead of an event stream.*base URL/s) },
  },
];

/** Said last: how a run ends is how its last prompt ended. */
const LAST: Prompt = {
  what: 'a refused thinking signature',
  turns: [calls(thinking('Hm.'), read()), refusedSignature(), fine],
};

test('every fault of a reply ends as it should, and leaves a valid history', async () => {
  await using project = await createTempProject({ 'a.txt': 'alpha\n' });
  const isFinishedCall = ({ what }: Prompt) => what.startsWith('a cut after a finished call');
  const others = PROMPTS.filter((prompt) => !isFinishedCall(prompt));
  const tried = [...PROMPTS.filter(isFinishedCall), ...someOf(others, 2), LAST];
  const queue: ApiTurn[] = [];
  await using server = await startApiServer({ turns: () => queue.shift() });
  const host = startJsonHost(project, [], server.url, { env: PATIENCE });
  const results = () => host.received().filter(({ type }) => type === 'result');
  for (const [at, { what, turns, end }] of tried.entries()) {
    const before = server.requests().length;
    queue.push(...turns);
    host.say(what);
    await host.waitFor(() => results().length > at);
    expect(results()[at], what).toMatchObject(
      end ?? { is_error: false, result: expect.stringMatching(/All is well here\.$/) },
    );
    expect(server.requests().length - before, what).toBe(turns.length);
  }
  expect(server.all().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  const sent = server.requests().map(({ raw }) => raw);
  expect(sent.join('')).not.toMatch(/hologram|scent|weather|half of/);
  expect(sent.find((raw) => raw.includes('a cut after a finished call') && raw.includes('1→alpha'))).toBeDefined();
  // The signature is sent once, refused, and left out from there on.
  expect(sent.filter((raw) => raw.includes('"thinking":"Hm."'))).toHaveLength(1);
  expect(await host.end()).toBe(0);
});

type Played = HereEnd & { readonly requests: number; readonly violations: readonly string[] };

/** One run of the program against a script of faults. */
async function play(script: Script, env = {}, files: Readonly<Record<string, string>> = {}): Promise<Played> {
  await using project = await createTempProject({ 'a.txt': 'alpha\n', ...files });
  await using server = await startApiServer(script);
  const end = await runHere(project, ['-p', 'hi'], server.url, { env });
  const violations = server.all().flatMap(({ violation }) => violation ?? []);
  return { ...end, requests: server.requests().length, violations };
}

longTest.concurrent('retries end with one clear line and exit code 1', async () => {
  const { code, stdout, stderr, requests } = await play({ turns: [], after: status(500) }, { OURO_MAX_RETRIES: '3' });
  expect({ code, stdout, requests }).toEqual({ code: 1, stdout: '', requests: 4 });
  expect(stderr).toMatch(/^[^\n]*internal error \(500\)[^\n]*Gave up after 4 attempts\. Try again later\.\n$/);
});

longTest.concurrent('replies that are always cut off end without success', async () => {
  const { code, requests, violations } = await play({ turns: [], after: maxTokensReply(text('la la la')) });
  expect({ code, violations }).toEqual({ code: 1, violations: [] });
  expect(requests).toBeLessThanOrEqual(6);
});

test.concurrent.each(
  someOf(
    [
      ['is told to be too long', promptTooLong()],
      ['outgrows the window while it is answered', windowExceededReply(text('I was'))],
    ],
    1,
  ),
)('a prompt that %s, once: space is freed and the run continues', async (_what, fault) => {
  const { code, stdout, violations, requests } = await play({
    turns: [calls(read()), fault, says('Read a.txt.'), fine],
  });
  expect({ code, violations, requests }).toEqual({ code: 0, violations: [], requests: 4 });
  expect(stdout).toContain('All is well here.');
});

longTest.concurrent('a prompt that stays too long ends after a bounded number of requests', async () => {
  const { code, stderr, requests } = await play({ turns: [], after: promptTooLong() });
  expect(code).toBe(1);
  expect(requests).toBeLessThanOrEqual(6);
  expect(stderr).toMatch(/too long/i);
});

/** Lines that take room: about thirty thousand characters. */
const LONG = Array.from({ length: 600 }, (_, at) => `line ${at} of a file that is rather long, too\n`).join('');

longTest.concurrent('a conversation that exceeded its window is summarized once, and the run continues', async () => {
  const files = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`b${at}.txt`, LONG]));
  const { code, stdout, stderr, violations, requests } = await play(
    {
      turns: ({ raw }) => {
        const seen = raw.match(/"name":"Read"/g)?.length ?? 0;
        if (raw.includes('<summary')) return says('Earlier: some files were read.');
        return seen <= 6 ? calls(toolUse('Read', { file_path: `b${seen - 1}.txt` })) : fine;
      },
      contextWindowTokens: 40_000,
    },
    {},
    files,
  );
  expect({ code, stderr, violations }).toEqual({ code: 0, stderr: '', violations: [] });
  expect(requests).toBeLessThanOrEqual(12);
  expect(stdout).toContain('All is well here.');
});

longTest.concurrent('one result that is too long in the first turn is shortened', async () => {
  const { code, stdout, violations } = await play(
    {
      turns: (_request, index) => (index === 0 ? calls(toolUse('Read', { file_path: 'big.txt' })) : fine),
      contextWindowTokens: 18_000,
    },
    {},
    { 'big.txt': LONG.repeat(3) },
  );
  expect({ code, violations }).toEqual({ code: 0, violations: [] });
  expect(stdout).toContain('All is well here.');
});

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test.concurrent.each<[string, ApiTurn]>(
  someOf(
    [
      ['cannot be read', unreadableImage()],
      ['is too large', imageTooLarge()],
    ],
    1,
  ),
)('an image that %s is omitted, and the run continues', async (_what, fault) => {
  await using project = await createTempProject();
  const path = await project.write('dot.png', '');
  await writeFile(path, Buffer.from(PIXEL, 'base64'));
  await using server = await startApiServer({
    turns: ({ raw }, index) =>
      index === 0 ? calls(toolUse('Read', { file_path: path })) : raw.includes('"type":"image"') ? fault : fine,
  });
  const { code, stdout } = await runHere(project, ['-p', 'look'], server.url);
  expect({ code, stdout: stdout.includes('All is well here.') }).toEqual({ code: 0, stdout: true });
  expect(server.requests().length).toBeLessThanOrEqual(5);
});

longTest.concurrent('of two images only the one named by the provider is omitted', async () => {
  await using project = await createTempProject();
  const look = async (name: string, more: string) => {
    const path = await project.write(name, '');
    await writeFile(path, Buffer.concat([Buffer.from(PIXEL, 'base64'), Buffer.from(more)]));
    return calls(toolUse('Read', { file_path: path }));
  };
  const named = 'messages.4.content.0.content.0.image.source.base64.data: Could not process image';
  await using server = await startApiServer({
    turns: [await look('good.png', 'good'), await look('bad.png', 'bad'), status(400, named), fine],
  });
  expect((await runHere(project, ['-p', 'look'], server.url)).code).toBe(0);
  const shown = server.requests().map(({ raw }) => raw.split('"type":"image"').length - 1);
  expect(shown).toEqual([0, 1, 2, 1]);
  expect(server.requests().at(-1)?.violation).toBeUndefined();
});

longTest.concurrent('an image after a refused one is sent, and a replay builds the same requests', async () => {
  await using project = await createTempProject();
  const look = async (name: string) => {
    const path = await project.write(name, '');
    // Different bytes: what was refused stays left out.
    await writeFile(path, Buffer.concat([Buffer.from(PIXEL, 'base64'), Buffer.from(name)]));
    return calls(toolUse('Read', { file_path: path }));
  };
  await using server = await startApiServer({
    turns: [await look('a.png'), unreadableImage(), await look('b.png'), fine],
  });
  const { code } = await runHere(project, ['-p', 'look'], server.url);
  expect(code).toBe(0);
  const shown = server.requests().map(({ raw }) => raw.split('"type":"image"').length - 1);
  expect(shown).toEqual([0, 1, 0, 1]);
  expect(await replayAll(project)).toEqual({ requests: 4, different: [] });
});
