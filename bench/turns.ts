import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type ApiBlock,
  type ApiReply,
  calls,
  reply,
  type StreamFault,
  says,
  text,
  toolUse,
} from '../test/support/api/reply.ts';
import type { ApiServer } from '../test/support/api/server.ts';
import { LAUNCHER, startOuro } from '../test/support/run-ouro.ts';
import { AS_SHIPPED, timed, withApi } from './programs.ts';
import { growth, type Measure, median, type Row, repeated } from './row.ts';

// The script repeats one call, which the loop guard would stop.
const FLAGS = [
  '--allowedTools',
  'Bash',
  'Read',
  'Edit',
  '--settings',
  '{"loopGuard":{"remindAfter":1000,"stopAfter":1000}}',
];
const TURNS = 50;
const CALLS = 8;
const EARLY_CALLS = 7;
const STREAMS_ON_MS = 300;

export const turns: Measure = {
  name: 'turns',
  description: 'overhead of a turn besides the model and the tool',
  run: async () => [
    ...(await overhead('Bash', () => toolUse('Bash', { command: 'echo hi', description: 'Say hi' }), 6)),
    ...(await overhead('Read', () => toolUse('Read', { file_path: 'notes.txt' }), 3)),
    await sideBySide('`sleep 0.25`', () => toolUse('Bash', { command: 'sleep 0.25', description: 'Wait' }), 300),
    await sideBySide('Read', (index) => toolUse('Read', { file_path: 'notes.txt', offset: index + 1 }), 20),
    await whileStreaming('Bash', () => toolUse('Bash', { command: 'echo hi', description: 'Say hi' }), 20),
    await whileStreaming('Read', () => toolUse('Read', { file_path: 'notes.txt' }), 10),
    await whileStreaming('Write', (index) => toolUse('Write', { file_path: `new${index}.txt`, content: 'hi\n' }), 20),
  ],
};

const OURO = (): readonly string[] => [LAUNCHER, '-p', 'go', ...FLAGS];

/** The command of a bare program that does the same with the same runtime and API library. */
const bareClient = (apiUrl: string): readonly string[] => [
  process.execPath,
  '--no-env-file',
  '--define=process.env.NODE_ENV:"production"',
  join(import.meta.dirname, 'turn-floor.ts'),
  apiUrl,
];

/** Measures the time between a reply with one call and the next request. */
async function overhead(name: string, call: () => ApiBlock, must: number): Promise<readonly Row[]> {
  const script = (_: unknown, index: number) => (index < TURNS ? calls(call()) : says('Done.'));
  const measure = (command: (apiUrl: string) => readonly string[]) =>
    withApi({ turns: script }, async ({ project, api }) => {
      await timed(command(api.url), project, api.url);
      return gapsOf(api);
    });
  const floor = median(await measure(bareClient));
  const gaps = await measure(OURO);
  return [
    { name: `one turn with ${name}`, unit: 'ms', value: median(gaps), must, floor },
    { name: `${TURNS} turns with ${name}, last third to first`, unit: 'times', value: growth(gaps), must: 1.2 },
  ];
}

function gapsOf(api: ApiServer): readonly number[] {
  const at = api.requests().map((request) => request.arrivedAtMs);
  // The first turn starts shells and loads modules.
  return at.slice(2).map((time, index) => time - (at[index + 1] ?? time));
}

/** Measures the time between a reply with several calls and the next request. */
async function sideBySide(what: string, call: (index: number) => ApiBlock, must: number): Promise<Row> {
  const script = [calls(...Array.from({ length: CALLS }, (_, index) => call(index))), says('Done.')];
  const measure = (command: (apiUrl: string) => readonly string[]) =>
    repeated(3, () =>
      withApi({ turns: script }, async ({ project, api }) => {
        await timed(command(api.url), project, api.url);
        const [first, second] = api.requests().map((request) => request.arrivedAtMs);
        return (second ?? 0) - (first ?? 0);
      }),
    );
  const floor = await measure(bareClient);
  return { name: `${CALLS} × ${what} in one reply`, unit: 'ms', value: await measure(OURO), must, floor };
}

/** Measures the time from a complete call to its result while the reply still streams. */
async function whileStreaming(name: string, call: (index: number) => ApiBlock, must: number): Promise<Row> {
  const begun = (index: number): ApiReply => {
    const until = setTimeout(STREAMS_ON_MS);
    // Everything before the second block is sent before the wait.
    const faults: readonly StreamFault[] = [{ at: 5, do: 'wait', until, pings: 'pings' }];
    return reply([call(index), text('And so on.')], { chunk: 10_000, stop: 'tool_use', faults });
  };
  const script = (_: unknown, index: number) => (index < EARLY_CALLS ? begun(index) : says('Done.'));
  return withApi({ turns: script }, async ({ project, api }) => {
    const format = ['--output-format', 'stream-json', '--verbose'];
    await using running = startOuro(project, ['-p', 'go', ...format, ...FLAGS], api.url, { env: AS_SHIPPED });
    const delays: number[] = [];
    for await (const line of running.lines()) {
      if (!line.includes('"tool_result"')) continue;
      const request = api.requests().at(-1);
      delays.push(performance.now() - (request?.arrivedAtMs ?? Number.NaN));
    }
    if (delays.length !== EARLY_CALLS) throw new Error(`${delays.length} results were reported, not ${EARLY_CALLS}.`);
    return {
      name: `${name} call finished while its reply streams, after`,
      unit: 'ms',
      value: median(delays),
      must,
    };
  });
}
