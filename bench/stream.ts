import { join } from 'node:path';
import { type ApiReply, says } from '../test/support/api/reply.ts';
import { terminalEnvironment, withSettings } from '../test/support/environment.ts';
import { openTerminal, type VirtualTerminal } from '../test/support/terminal/virtual-terminal.ts';
import { AS_SHIPPED, cpuSeconds, memoryMb, openOuro, withApi } from './programs.ts';
import { type Measure, median, type Row } from './row.ts';

const PARAGRAPH =
  'Some **bold** words, `code`, and a [link](https://example.com); then a list:\n\n- first of the list\n- second of it\n\n```ts\nconst answer: number = 42;\n```\n\n';
const BURST = PARAGRAPH.repeat(Math.ceil(200_000 / PARAGRAPH.length));
const PACED_SECONDS = 20;
const PER_SECOND = 100;
const PACED = BURST.slice(0, PACED_SECONDS * PER_SECOND * 10);
const END = 'The very end.';

export const stream: Measure = {
  name: 'stream',
  description: `${BURST.length / 1000} KB at once, then ${PACED_SECONDS} s at a steady pace, each also by a bare program`,
  run: async () => [...(await burst()), ...(await paced())],
};

async function burst(): Promise<readonly Row[]> {
  const answer = says(`${BURST}${END}`, { chunk: 20 });
  const floor = await receive(answer, openBareClient, async () => undefined);
  const ouro = await receive(answer, openOuro, async () => undefined);
  return [
    { name: '200 KB of Markdown at once: processor time', unit: 's', value: ouro.cpu, must: 0.5, floor: floor.cpu },
    { name: 'the same: last line painted after', unit: 'ms', value: ouro.endedMs, must: 700, floor: floor.endedMs },
    { name: 'the same: peak memory', unit: 'MB', value: ouro.peakMb, floor: floor.peakMb },
  ];
}

async function paced(): Promise<readonly Row[]> {
  const answer = says(`${PACED}${END}`, { chunk: 10, delayMs: 1000 / PER_SECOND });
  const floor = await receive(answer, openBareClient, async () => undefined);
  const ouro = await receive(answer, openOuro, async (terminal, arrivedAtMs) => {
    await untilMs(arrivedAtMs + (PACED_SECONDS * 1000) / 2);
    return { half: await cpuSeconds(terminal.pid), echoes: await echoTimes(terminal) };
  });
  const { half, echoes } = ouro.seen;
  return [
    {
      name: `${PER_SECOND} deltas a second for ${PACED_SECONDS} s: processor time`,
      unit: 's',
      value: ouro.cpu,
      must: 1.5,
      floor: floor.cpu,
    },
    {
      name: 'the same: bytes painted per byte of text',
      unit: 'times',
      value: ouro.painted / PACED.length,
      must: 5,
      floor: floor.painted / PACED.length,
    },
    {
      name: 'the same: processor time, second half to first',
      unit: 'times',
      value: (ouro.endCpu - half) / (half - ouro.startCpu),
      must: 1.1,
    },
    { name: 'key → echo while streaming', unit: 'ms', value: median(echoes), must: 4 },
  ];
}

/** Lets a program ask for a reply, does something meanwhile, and measures until the end of the reply is painted. */
async function receive<Seen>(
  answer: ApiReply,
  open: typeof openBareClient,
  meanwhile: (terminal: VirtualTerminal, arrivedAtMs: number) => Promise<Seen>,
) {
  return withApi({ turns: [answer] }, async ({ project, api }) => {
    await using terminal = await open(project, api.url);
    const bytesBefore = terminal.bytes().length;
    const startCpu = await cpuSeconds(terminal.pid);
    terminal.type('go');
    terminal.press('enter');
    const { arrivedAtMs } = await api.waitForRequest(1);
    const seen = await meanwhile(terminal, arrivedAtMs);
    await terminal.waitForText(/The very end\./, 120_000);
    const endedMs = performance.now() - arrivedAtMs;
    const endCpu = await cpuSeconds(terminal.pid);
    const painted = terminal.bytes().length - bytesBefore;
    const { peak: peakMb } = await memoryMb(terminal.pid);
    return { seen, startCpu, endCpu, cpu: endCpu - startCpu, endedMs, painted, peakMb };
  });
}

/** Starts a bare program that receives a reply once a key is pressed. */
async function openBareClient(...[project, apiUrl]: Parameters<typeof openOuro>): Promise<VirtualTerminal> {
  const env = withSettings(terminalEnvironment(project, apiUrl), AS_SHIPPED);
  const file = join(import.meta.dirname, 'stream-floor.ts');
  const command = [process.execPath, '--no-env-file', '--define=process.env.NODE_ENV:"production"', file, apiUrl];
  const terminal = openTerminal(command, { cwd: project.dir, env, cols: 120, rows: 40 });
  await terminal.waitForText(/^ready/m, 30_000);
  return terminal;
}

async function untilMs(time: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, time - performance.now()));
}

/** Types letters one by one and measures how long each takes to appear. */
export async function echoTimes(terminal: Awaited<ReturnType<typeof openOuro>>): Promise<readonly number[]> {
  const times: number[] = [];
  let typed = '';
  for (const letter of 'abcdefghij') {
    typed += letter;
    const pressedAt = performance.now();
    terminal.type(letter);
    await terminal.waitForText(new RegExp(`^[▌|] ${typed}`, 'm'));
    times.push(performance.now() - pressedAt);
  }
  return times;
}
