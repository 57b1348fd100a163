import { readdir } from 'node:fs/promises';
import type { SeenRequest } from '../test/support/api/dialect.ts';
import { type ApiBlock, calls, says, toolUse } from '../test/support/api/reply.ts';
import { expectNoneLeft } from '../test/support/processes.ts';
import { LAUNCHER } from '../test/support/run-ouro.ts';
import { cpuSeconds, memoryMb, openOuro, PROMPT, peakMemoryMb, withApi } from './programs.ts';
import type { Measure, Row } from './row.ts';

const TURNS = 500;
/** Until then things are loaded, and caches fill. */
const WARM = 100;
const QUARTER = (TURNS - WARM) / 4;
const AGENTS = 20;
const SHELLS = 50;
const DIG = 'Dig as deep as you can.';

export const endurance: Measure = {
  name: 'endurance',
  words: `${TURNS} turns with four calls each in one screen, then many agents, shells and much output at once`,
  run: async () => [
    ...(await manyTurns()),
    await atOnce('a command that prints 600 MB', [bash('yes 0123456789 | head -c 600000000')]),
    await atOnce(`${AGENTS} sub-agents at once`, Array.from({ length: AGENTS }, dig)),
    await atOnce(
      `${SHELLS} shells in the background`,
      Array.from({ length: SHELLS }, () => bash('setsid sleep 300', { run_in_background: true })),
    ),
  ],
};

/** The most memory of a run whose model calls all of these in one reply; nothing of them may be left. */
async function atOnce(name: string, wanted: readonly ApiBlock[]): Promise<Row> {
  const script = ({ raw }: SeenRequest) => {
    if (raw.includes('"tool_result"')) return says('Done.');
    return raw.includes(DIG) ? calls(toolUse('Read', { file_path: 'notes.txt' })) : calls(...wanted);
  };
  return withApi({ turns: script }, async ({ project, api }) => {
    const flags = ['--allowedTools', 'Bash', 'Read', 'Task'];
    const value = await peakMemoryMb([LAUNCHER, '-p', 'go', ...flags], project, api.url);
    await expectNoneLeft(project.marker);
    return { name, unit: 'MB', value, must: 300 };
  });
}

const bash = (command: string, more: object = {}) => toolUse('Bash', { command, description: 'Do it', ...more });
const dig = () => toolUse('Task', { description: 'dig', prompt: DIG, subagent_type: 'general-purpose' });

async function manyTurns(): Promise<readonly Row[]> {
  const looks: { readonly mb: number; readonly handles: number; readonly cpu: number }[] = [];
  let pid = 0;
  const look = async () => {
    const { now } = await memoryMb(pid);
    const cpu = await cpuSeconds(pid);
    looks.push({ mb: now, handles: (await readdir(`/proc/${pid}/fd`)).length, cpu });
  };
  const waits: Promise<void>[] = [];
  const script = (_: SeenRequest, index: number) => {
    if (index >= WARM && (index - WARM) % QUARTER === 0) waits.push(look());
    return index < TURNS ? calls(...fourCalls(index)) : says('All is done.');
  };
  return withApi({ turns: script }, async ({ project, api }) => {
    await using terminal = await openOuro(project, api.url, ['--allowedTools', 'Bash', 'Read', 'Grep', 'Write']);
    pid = terminal.pid;
    terminal.type('go');
    terminal.press('enter');
    await terminal.waitForText(/All is done\./, 600_000);
    await terminal.waitForText(PROMPT);
    await Promise.all(waits);
    const [warm, first, , third, end] = looks;
    const spent = (from: typeof warm, to: typeof warm) => (to?.cpu ?? Number.NaN) - (from?.cpu ?? Number.NaN);
    return [
      { name: `memory after ${WARM} turns`, unit: 'MB', value: warm?.mb ?? Number.NaN },
      { name: `memory after ${TURNS} turns`, unit: 'MB', value: end?.mb ?? Number.NaN },
      {
        name: 'handles that came since',
        unit: 'count',
        value: (end?.handles ?? Number.NaN) - (warm?.handles ?? 0),
        must: 2,
      },
      {
        name: 'processor time of a turn, last quarter to first',
        unit: 'times',
        value: spent(third, end) / spent(warm, first),
        must: 1.3,
      },
    ];
  });
}

function fourCalls(index: number) {
  return [
    toolUse('Read', { file_path: 'notes.txt', offset: (index % 40) + 1, limit: 5 }),
    toolUse('Bash', { command: `echo turn ${index}`, description: 'Say where we are' }),
    toolUse('Grep', { pattern: 'words', path: '.' }),
    toolUse('Read', { file_path: 'notes.txt' }),
  ];
}
