import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  cutAt,
  cutOff,
  endAt,
  errorAt,
  garbageAt,
  imageTooLarge,
  outgrowsWindow,
  overloaded,
  pausesTurn,
  pingsAt,
  rateLimited,
  refuses,
  saysNothing,
  silenceAt,
  staysOpen,
  unheardOfAt,
  unreadableImage,
} from '../support/api/faults.ts';
import {
  type ApiTurn,
  calls,
  halfCall,
  hang,
  html,
  json,
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
import { type RunEnd, runOuro } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';

type Played = RunEnd & {
  /** The main requests, each with what a real API would have refused about it. */
  readonly requests: number;
  readonly violations: readonly string[];
  readonly sent: readonly string[];
  readonly tookMs: number;
};

type Run = {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly prompt?: string;
  /** Goes on with the session afterwards: what was left behind must be fit to be sent. */
  readonly afterwards?: 'continue';
};

const PATIENCE = { OURO_MAX_RETRIES: '3', OURO_STREAM_IDLE_TIMEOUT_MS: '400', OURO_HEADER_TIMEOUT_MS: '700' };
const never = new Promise<never>(() => undefined);

/** One run of the program against a script of faults. */
async function play(script: Script, run: Run = {}): Promise<Played> {
  await using project = await createTempProject({ 'a.txt': 'alpha\n', ...run.files });
  await using server = await startApiServer(script);
  const settings = { env: { ...PATIENCE, ...run.env } };
  const startedAt = performance.now();
  const end = await runOuro(project, ['-p', run.prompt ?? 'hi', ...(run.args ?? [])], server.url, settings);
  const tookMs = performance.now() - startedAt;
  const requests = server.requests().length;
  if (run.afterwards === 'continue') {
    const again = await runOuro(project, ['-p', 'and now?', '-c'], server.url, settings);
    expect(again).toMatchObject({ code: 0 });
  }
  const violations = server.all().flatMap(({ violation }) => violation ?? []);
  return { ...end, requests, violations, tookMs, sent: server.requests().map(({ raw }) => raw) };
}

const fine = says('All is well here.');
const half = (...faults: readonly StreamFault[]) => says('All is well here.', { chunk: 4, faults });
/** In the stream of a reply, by count and by name. */
const MOMENTS = [0, 1, 5, 'content_block_stop', 'message_delta', 'message_stop'];
const READ = toolUse('Read', { file_path: 'a.txt' }, 'toolu_read');

describe('what may heal is tried again', () => {
  test.concurrent.each<[string, readonly ApiTurn[]]>([
    [
      'before the first word: 500, 502 with a web page, 503, 529, 408, a reset, no headers',
      [status(500), html(502), status(503), overloaded(), status(408), reset(), hang()],
    ],
    ['a reply cut short, at any point', MOMENTS.map((at) => half(cutAt(at)))],
    ['a body that ends too early, at any point', MOMENTS.map((at) => half(endAt(at)))],
    [
      'errors and rubbish in the middle',
      [
        half(...errorAt(5)),
        half(...errorAt(1)),
        half(...errorAt(4, 'api_error', 'Internal')),
        half(...errorAt(4, 'rate_limit_error', 'Slow down')),
        half(garbageAt(4), cutAt(5)),
      ],
    ],
    ['silence, or nothing but pings', [half(silenceAt(5, never)), half(pingsAt(5, never))]],
  ])('%s', async (_what, faults) => {
    const { code, stdout, stderr, requests, violations } = await play(
      { turns: [...faults, fine] },
      { env: { OURO_MAX_RETRIES: '20' } },
    );
    expect({ code, stdout, stderr, requests, violations }).toEqual({
      code: 0,
      stdout: 'All is well here.\n',
      stderr: '',
      requests: faults.length + 1,
      violations: [],
    });
  });

  test.concurrent('a wish to wait up to a minute is waited out, and hosts are told of each try', async () => {
    const { code, stdout, requests, tookMs } = await play(
      { turns: [rateLimited(1), overloaded(), fine] },
      { args: ['--output-format', 'stream-json', '--verbose'] },
    );
    expect({ code, requests }).toEqual({ code: 0, requests: 3 });
    expect(tookMs).toBeGreaterThan(1000);
    const retries = linesOf(stdout).filter(({ subtype }) => subtype === 'api_retry');
    expect(retries).toMatchObject([{ attempt: 1, retry_delay_ms: 1000 }, { attempt: 2 }]);
  });

  test.concurrent('a wish above a minute stops at once and says when to come back', async () => {
    const { code, stdout, stderr, requests } = await play({ turns: [], after: rateLimited(3600) });
    expect({ code, requests }).toEqual({ code: 1, requests: 1 });
    expect(stdout + stderr).toMatch(/60 minutes.*try again after \d\d:\d\d/s);
  });

  test.concurrent('tries come to an end', async () => {
    const { code, stdout, stderr, requests } = await play({ turns: [], after: status(500) });
    expect({ code, requests }).toEqual({ code: 1, requests: 4 });
    expect(stdout + stderr).toMatch(/internal error \(500\).*Gave up after 4 tries/s);
  });
});

describe('what cannot heal ends at once with a sentence', () => {
  test.concurrent.each<[string, ApiTurn, RegExp]>([
    ['401', status(401), /refused the credentials.*API key/s],
    ['403', status(403), /refused the credentials.*permission/s],
    ['404', status(404), /model.*\/model/s],
    ['400', status(400, 'tools.3: nonsense'), /refused the request.*tools\.3: nonsense/s],
    ['200 with a web page', html(200), /web page instead of a stream.*base URL/s],
    ['200 with JSON', json({ hello: 1 }), /plain data instead of a stream/s],
  ])('%s', async (_what, fault, words) => {
    const { code, stdout, stderr, requests } = await play({ turns: [], after: fault });
    expect({ code, requests }).toEqual({ code: 1, requests: 1 });
    expect(stdout + stderr).toMatch(words);
  });
});

describe('odd streams', () => {
  test.concurrent('a socket that stays open after message_stop: the turn is over', async () => {
    const open = says('All is well here.', { faults: [staysOpen()] });
    const { code, stdout, tookMs } = await play(
      { turns: [open] },
      { env: { OURO_STREAM_IDLE_TIMEOUT_MS: '60000', OURO_HEADER_TIMEOUT_MS: '60000' } },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'All is well here.\n' });
    expect(tookMs).toBeLessThan(15_000);
  });

  test.concurrent('unknown events, deltas and blocks are passed over and never sent back', async () => {
    const strange = reply([{ type: 'hologram', beam: 'blue' }, text('I look.'), READ], {
      faults: [...unheardOfAt(6, 1)],
    });
    const { code, stdout, violations, sent } = await play({ turns: [strange, fine] });
    expect({ code, stdout, violations }).toEqual({ code: 0, stdout: 'All is well here.\n', violations: [] });
    expect(sent[1]).not.toMatch(/hologram|scent|weather/);
    expect(sent[1]).toContain('I look.');
  });

  test.concurrent('a cut after a finished call keeps its result, and the loop goes on', async () => {
    const cut = reply([text('I look.'), READ, text('and then some more')], {
      chunk: 2,
      delayMs: 10,
      faults: [cutAt(24)],
    });
    const { code, stdout, violations, sent, requests } = await play({ turns: [cut, fine] }, { afterwards: 'continue' });
    expect({ code, stdout, violations, requests }).toEqual({
      code: 0,
      stdout: 'All is well here.\n',
      violations: [],
      requests: 2,
    });
    expect(sent[1]).toContain('alpha');
  });

  test.concurrent('an empty reply is nudged once, then accepted as the end', async () => {
    const healed = await play({ turns: [saysNothing(), fine] }, { afterwards: 'continue' });
    expect(healed).toMatchObject({ code: 0, stdout: 'All is well here.\n', requests: 2, violations: [] });
    const mute = await play({ turns: [], after: saysNothing() });
    expect(mute.requests).toBe(2);
    expect(mute.violations).toEqual([]);
  });

  test.concurrent('a refusal is told and is no success', async () => {
    const { code, stdout, stderr, requests } = await play({ turns: [refuses()] }, { afterwards: 'continue' });
    expect({ code, requests }).toEqual({ code: 1, requests: 1 });
    expect(stdout + stderr).toMatch(/declined|refused/i);
  });

  test.concurrent('a paused turn is taken up again', async () => {
    const { code, stdout, requests, violations } = await play({
      turns: [pausesTurn(text('Still at it.')), fine],
    });
    expect({ code, requests, violations }).toEqual({ code: 0, requests: 2, violations: [] });
    expect(stdout).toContain('All is well here.');
  });

  test.concurrent('half a call is never run: first more room is given, then the model goes on', async () => {
    const cut = cutOff(text('I write.'), halfCall('Write', '{"file_path":"b.txt","content":"half of'));
    const { code, stdout, sent, violations } = await play(
      { turns: [cut, cut, fine] },
      { args: ['--permission-mode', 'acceptEdits'], afterwards: 'continue' },
    );
    expect({ code, stdout: stdout.includes('All is well here.'), violations }).toEqual({
      code: 0,
      stdout: true,
      violations: [],
    });
    const room = sent.map((raw) => JSON.parse(raw).max_tokens);
    expect(room[1]).toBeGreaterThan(room[0]);
    expect(sent.join('')).not.toContain('half of');
  });

  test.concurrent('replies that are cut off for ever come to an end that is no success', async () => {
    const { code, requests, violations } = await play({ turns: [], after: cutOff(text('la la la')) });
    expect(code).toBe(1);
    expect(requests).toBeLessThanOrEqual(6);
    expect(violations).toEqual([]);
  });
});

describe('too much for the model', () => {
  /** Lines that take room: about thirty thousand characters. */
  const long = Array.from({ length: 600 }, (_, at) => `line ${at} of a file that is rather long, too\n`).join('');
  const files = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`b${at}.txt`, long]));

  test.concurrent.each([
    ['is told to be too long', promptTooLong()],
    ['outgrows the window while it is answered', outgrowsWindow(text('I was'))],
  ])('a prompt that %s, once: room is made and the run goes on', async (_what, fault) => {
    const { code, stdout, violations, requests } = await play({
      turns: [calls(READ), fault, says('Read a.txt.'), fine],
    });
    expect({ code, violations, requests }).toEqual({ code: 0, violations: [], requests: 4 });
    expect(stdout).toContain('All is well here.');
  });

  test.concurrent('a conversation that outgrew its window is summarized once, and the run goes on', async () => {
    const { code, stdout, stderr, violations, requests } = await play(
      {
        turns: ({ raw }) => {
          const seen = raw.match(/"name":"Read"/g)?.length ?? 0;
          if (raw.includes('<summary')) return says('Earlier: some files were read.');
          return seen <= 6 ? calls(toolUse('Read', { file_path: `b${seen - 1}.txt` })) : fine;
        },
        contextWindowTokens: 40_000,
      },
      { files },
    );
    expect({ code, stderr, violations }).toEqual({ code: 0, stderr: '', violations: [] });
    expect(requests).toBeLessThanOrEqual(12);
    expect(stdout).toContain('All is well here.');
  });

  test.concurrent('for ever: the run ends after a bounded number of requests', async () => {
    const { code, stdout, stderr, requests } = await play({ turns: [], after: promptTooLong() });
    expect(code).toBe(1);
    expect(requests).toBeLessThanOrEqual(6);
    expect(stdout + stderr).toMatch(/too long/i);
  });

  test.concurrent('because of one result in the first turn: that result shrinks', async () => {
    const big = Array.from({ length: 1900 }, (_, at) => `line ${at} of a file that is rather long\n`).join('');
    const { code, stdout, violations } = await play(
      {
        turns: (_request, index) =>
          index === 0 ? calls(toolUse('Read', { file_path: 'big.txt' }, 'toolu_big')) : fine,
        contextWindowTokens: 18_000,
      },
      { files: { 'big.txt': big } },
    );
    expect({ code, violations }).toEqual({ code: 0, violations: [] });
    expect(stdout).toContain('All is well here.');
  });
});

describe('what the API refuses to take back', () => {
  test.concurrent('a refused thinking signature: thinking is left out once', async () => {
    const { code, stdout, sent, requests } = await play({
      turns: [calls(thinking('Hm.'), READ), refusedSignature(), fine],
    });
    expect({ code, stdout, requests }).toEqual({ code: 0, stdout: 'All is well here.\n', requests: 3 });
    expect(sent.map((raw) => raw.includes('"thinking":"Hm."'))).toEqual([false, true, false]);
  });

  const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

  test.concurrent.each<[string, ApiTurn]>([
    ['cannot be read', unreadableImage()],
    ['is too large', imageTooLarge()],
  ])('a picture that %s is left out, and the run goes on', async (_what, fault) => {
    await using project = await createTempProject();
    const path = await project.write('dot.png', '');
    await writeFile(path, Buffer.from(PIXEL, 'base64'));
    await using server = await startApiServer({
      turns: ({ raw }, index) =>
        index === 0
          ? calls(toolUse('Read', { file_path: path }, 'toolu_dot'))
          : raw.includes('"type":"image"')
            ? fault
            : fine,
    });
    const { code, stdout } = await runOuro(project, ['-p', 'look'], server.url, { env: PATIENCE });
    expect({ code, stdout: stdout.includes('All is well here.') }).toEqual({ code: 0, stdout: true });
    expect(server.requests().length).toBeLessThanOrEqual(5);
  });
});

function linesOf(stdout: string) {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
