import { readdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { SeenRequest } from '../test/support/api/dialect.ts';
import { type ApiBlock, calls, says, toolUse } from '../test/support/api/reply.ts';
import { expectNoProcessesLeft } from '../test/support/processes.ts';
import { LAUNCHER } from '../test/support/run-ouro.ts';
import { cpuSeconds, memoryMb, openOuro, PROMPT, peakMemoryMb, withApi } from './programs.ts';
import type { Measure, Row } from './row.ts';

const PROMPTS = 300;
/** Prompts to skip: modules are loaded and caches fill. */
const WARM = 20;
/** Prompts that are compared at the beginning and at the end. */
const SPAN = 50;
/** After a run garbage is collected, and freed pages are returned. */
const REST_MS = 1000;
const LOOKS: readonly number[] = [WARM, WARM + SPAN, PROMPTS - SPAN, PROMPTS];
const AGENTS = 20;
const SHELLS = 50;
const DIG = 'Dig as deep as you can.';

export const endurance: Measure = {
  name: 'endurance',
  description: `${PROMPTS} typed prompts with five calls each, then many sub-agents, background shells and large output`,
  run: async () => [
    ...(await manyPrompts()),
    await atOnce('a command that prints 600 MB', [bash('yes 0123456789 | head -c 600000000')]),
    await atOnce(`${AGENTS} sub-agents at once`, Array.from({ length: AGENTS }, dig)),
    await atOnce(
      `${SHELLS} background shells`,
      Array.from({ length: SHELLS }, () => bash('setsid sleep 300', { run_in_background: true })),
    ),
  ],
};

/** Measures the peak memory of a run whose model makes all these calls in one reply; no process may be left. */
async function atOnce(name: string, wanted: readonly ApiBlock[]): Promise<Row> {
  const script = ({ raw }: SeenRequest) => {
    if (raw.includes('"tool_result"')) return says('Done.');
    return raw.includes(DIG) ? calls(toolUse('Read', { file_path: 'notes.txt' })) : calls(...wanted);
  };
  return withApi({ turns: script }, async ({ project, api }) => {
    const flags = ['--allowedTools', 'Bash', 'Read', 'Task'];
    const value = await peakMemoryMb([LAUNCHER, '-p', 'go', ...flags], project, api.url);
    await expectNoProcessesLeft(project.marker);
    return { name, unit: 'MB', value, must: 300 };
  });
}

const bash = (command: string, more: object = {}) => toolUse('Bash', { command, description: 'Do it', ...more });
const dig = () => toolUse('Task', { description: 'dig', prompt: DIG, subagent_type: 'general-purpose' });

/** Types prompts one after the other, as a person does in a long session. */
async function manyPrompts(): Promise<readonly Row[]> {
  const script = ({ raw }: SeenRequest) => {
    const last = raw.slice(raw.lastIndexOf('Prompt number'));
    const number = Number(/^Prompt number (\d+)/.exec(last)?.[1] ?? 0);
    return last.includes('tool_result') ? says(`Answer ${number} is complete.`) : calls(...fiveCalls(number));
  };
  return withApi({ turns: script }, async ({ project, api }) => {
    await using terminal = await openOuro(project, api.url, ['--allowedTools', 'Bash', 'Read', 'Grep', 'Write']);
    const { pid } = terminal;
    const look = async () => ({
      mb: (await memoryMb(pid)).now,
      handles: (await readdir(`/proc/${pid}/fd`)).length,
      cpu: await cpuSeconds(pid),
    });
    const looks = new Map([[0, await look()]]);
    for (let number = 1; number <= PROMPTS; number += 1) {
      terminal.type(`Prompt number ${number}`);
      terminal.press('enter');
      await terminal.waitForText(new RegExp(`Answer ${number} is complete\\.`), 60_000);
      await terminal.waitForText(PROMPT);
      if (LOOKS.includes(number)) looks.set(number, await look());
    }
    await setTimeout(REST_MS);
    const atRest = await look();
    const at = (number: number) => looks.get(number) ?? { mb: Number.NaN, handles: Number.NaN, cpu: Number.NaN };
    const cpuPerPrompt = (from: number, to: number) => ((at(to).cpu - at(from).cpu) / (to - from)) * 1000;
    const [first, last] = [cpuPerPrompt(WARM, WARM + SPAN), cpuPerPrompt(PROMPTS - SPAN, PROMPTS)];
    return [
      { name: 'memory before the first prompt', unit: 'MB', value: at(0).mb },
      {
        name: `memory after ${PROMPTS} prompts with ${PROMPTS * 5} calls`,
        unit: 'MB',
        value: at(PROMPTS).mb,
      },
      { name: 'the same, a second later', unit: 'MB', value: atRest.mb, must: 120 },
      { name: 'handles opened meanwhile', unit: 'count', value: at(PROMPTS).handles - at(WARM).handles, must: 2 },
      { name: `processor time of a prompt, after ${WARM}`, unit: 'ms', value: first },
      { name: 'processor time of a prompt, at the end', unit: 'ms', value: last },
      { name: 'processor time of a prompt, end to start', unit: 'times', value: last / first, must: 1.2 },
    ];
  });
}

function fiveCalls(index: number) {
  return [
    toolUse('Read', { file_path: 'notes.txt', offset: (index % 40) + 1, limit: 5 }),
    toolUse('Bash', { command: `echo prompt ${index}`, description: 'Say where we are' }),
    toolUse('Grep', { pattern: 'words', path: '.' }),
    toolUse('Read', { file_path: 'notes.txt' }),
    toolUse('Write', { file_path: `out/${index % 20}.txt`, content: `Written for prompt ${index}.\n`.repeat(20) }),
  ];
}
