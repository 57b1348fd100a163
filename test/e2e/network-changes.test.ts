import { expect } from 'vitest';
import { eventsOf } from '../support/api/events.ts';
import { stallAt } from '../support/api/faults.ts';
import { calls, reply, says, text, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { startRelay } from '../support/relay.ts';
import { startOuro } from '../support/run-ouro.ts';
import { partOf } from '../support/runs.ts';
import { replayAll, storedFile } from '../support/stored-sessions.ts';
import { createTempProject } from '../support/temp-project.ts';

const CHANGES = ['reset', 'half-close', 'silence', 'restart'] as const;
const PATIENCE = { OURO_STREAM_IDLE_TIMEOUT_MS: '2000', OURO_HEADER_TIMEOUT_MS: '20000', OURO_RETRY_BASE_MS: '200' };
const FOR_EVER = new Promise<void>(() => undefined);
const ANSWER = 'The whole answer is forty-two.';

/** Replies whose stream stops in the middle, and what the same request gets the second time. */
const REPLIES = {
  'an answer': { whole: reply([text(ANSWER)], { chunk: 6 }), stops: (events: number) => events - 4 },
  'a call': {
    whole: calls(text('I log it.'), toolUse('Bash', { command: 'echo once >>log', description: 'Log it' })),
    stops: (events: number) => events - 3,
  },
  'a reply without a word': { whole: reply([text(ANSWER)], { chunk: 6 }), stops: () => 1 },
} as const;

const NAMES = ['an answer', 'a call', 'a reply without a word'] as const;

longTest.each(
  partOf(
    CHANGES.flatMap((change) => NAMES.map((name) => ({ change, name }))),
    2,
  ),
)('$change of the connection in the middle of $name: the turn ends with the whole answer', async ({ change, name }) => {
  await using project = await createTempProject();
  const { whole, stops } = REPLIES[name];
  const broken = { ...whole, faults: [stallAt(stops(eventsOf(whole, '', '').length), FOR_EVER)] };
  await using server = await startApiServer({
    turns({ raw }, index) {
      if (index === 0) return broken;
      return name === 'a call' && !raw.includes('"tool_result"') ? whole : says(ANSWER);
    },
  });
  await using relay = await startRelay(server.url);
  const flags = [
    '-p',
    'go',
    '--output-format=stream-json',
    '--verbose',
    '--include-partial-messages',
    '--permission-mode',
    'acceptEdits',
  ];
  await using running = startOuro(project, [...flags, '--allowedTools', 'Bash'], relay.url, { env: PATIENCE });
  await running.waitForOutput(name === 'a reply without a word' ? /message_start/ : /content_block_delta/);
  if (change === 'restart') {
    await relay.close();
    // The second request finds nobody.
    await running.waitForOutput(/"subtype":"api_retry"[\s\S]*"subtype":"api_retry"/);
    await relay.open();
  } else relay.harm(change);
  const { code, stdout } = await running.ended;
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({ type: 'result', subtype: 'success', result: ANSWER });
  expect(code).toBe(0);
  if (name === 'a call') expect(await project.read('log')).toBe('once\n');
  expect(server.all().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  const { records } = await storedFile(project);
  expect(JSON.stringify(records).split(`"${ANSWER}"`)).toHaveLength(2);
  expect(await replayAll(project)).toMatchObject({ different: [] });
});
