import { type ApiBlock, calls, reply, says, text, toolUse } from '../test/support/api/reply.ts';
import type { ApiServer } from '../test/support/api/server.ts';
import { LAUNCHER } from '../test/support/run-ouro.ts';
import { timed, withApi } from './programs.ts';
import { growth, type Measure, median, type Row } from './row.ts';

const FLAGS = ['--allowedTools', 'Bash', 'Read'];
const TURNS = 50;
const SLEEPERS = 8;

export const turns: Measure = {
  name: 'turns',
  words: 'what a turn costs besides the model and the tool',
  run: async () => [
    ...(await overhead('Bash', () => toolUse('Bash', { command: 'echo hi', description: 'Say hi' }), 8)),
    ...(await overhead('Read', () => toolUse('Read', { file_path: 'notes.txt' }), 3)),
    await sideBySide(),
    await whileStreaming(
      'Bash',
      toolUse('Bash', { command: 'echo "at $EPOCHREALTIME"', description: 'Tell the time' }),
    ),
  ],
};

/** Time between the end of a reply with one call and the next request. */
async function overhead(name: string, call: () => ApiBlock, must: number): Promise<readonly Row[]> {
  const script = (_: unknown, index: number) => (index < TURNS ? calls(call()) : says('Done.'));
  return withApi({ turns: script }, async ({ project, api }) => {
    await timed([LAUNCHER, '-p', 'go', ...FLAGS], project, api.url);
    const gaps = gapsOf(api);
    return [
      { name: `one turn with ${name}`, unit: 'ms', value: median(gaps), must },
      { name: `${TURNS} turns with ${name}, last third to first`, unit: 'times', value: growth(gaps), must: 1.2 },
    ];
  });
}

function gapsOf(api: ApiServer): readonly number[] {
  const at = api.requests().map((request) => request.arrivedAtMs);
  // The first turn starts shells and loads what is loaded late.
  return at.slice(2).map((time, index) => time - (at[index + 1] ?? time));
}

async function sideBySide(): Promise<Row> {
  const sleep = () => toolUse('Bash', { command: 'sleep 0.25', description: 'Wait' });
  const script = [calls(...Array.from({ length: SLEEPERS }, sleep)), says('Done.')];
  const values = [];
  for (let round = 0; round < 3; round += 1) {
    const gap = await withApi({ turns: script }, async ({ project, api }) => {
      await timed([LAUNCHER, '-p', 'go', ...FLAGS], project, api.url);
      const [first, second] = api.requests().map((request) => request.arrivedAtMs);
      return (second ?? 0) - (first ?? 0);
    });
    values.push(gap);
  }
  return {
    name: `${SLEEPERS} × \`sleep 0.25\` in one reply`,
    unit: 'ms',
    value: median(values),
    must: 320,
    floor: 250,
  };
}

/** The call is complete early; the reply streams on. How long after its block does the tool run? */
async function whileStreaming(name: string, call: ApiBlock): Promise<Row> {
  const rest = text('word '.repeat(200));
  const script = [reply([call, rest], { chunk: 10, delayMs: 10, stop: 'tool_use' }), says('Done.')];
  return withApi({ turns: script }, async ({ project, api }) => {
    await timed([LAUNCHER, '-p', 'go', ...FLAGS], project, api.url);
    const told = /at (\d+\.\d+)/.exec(api.requests()[1]?.raw ?? '')?.[1];
    const startedAtMs = Number(told) * 1000 - performance.timeOrigin;
    const replyBeganMs = api.requests()[0]?.arrivedAtMs ?? 0;
    return {
      name: `a call starts while its reply streams (${name}), since the request`,
      unit: 'ms',
      value: startedAtMs - replyBeganMs,
    };
  });
}
