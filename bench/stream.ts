import { says } from '../test/support/api/reply.ts';
import { cpuSeconds, memoryMb, openOuro, withApi } from './programs.ts';
import { type Measure, median, type Row } from './row.ts';

const PARAGRAPH =
  'Some **bold** words, `code`, and a [link](https://example.com); then a list:\n\n- first of the list\n- second of it\n\n```ts\nconst answer: number = 42;\n```\n\n';
const BURST = PARAGRAPH.repeat(Math.ceil(200_000 / PARAGRAPH.length));
const PACED_SECONDS = 20;
const END = 'The very end.';

export const stream: Measure = {
  name: 'stream',
  description: `${BURST.length / 1000} KB at once, then ${PACED_SECONDS} s at a steady pace`,
  run: async () => [...(await burst()), ...(await paced())],
};

async function burst(): Promise<readonly Row[]> {
  return withApi({ turns: [says(`${BURST}${END}`, { chunk: 20 })] }, async ({ project, api }) => {
    await using terminal = await openOuro(project, api.url);
    const before = await cpuSeconds(terminal.pid);
    terminal.type('go');
    terminal.press('enter');
    const request = await api.waitForRequest(1);
    await terminal.waitForText(/The very end\./, 60_000);
    const painted = performance.now() - request.arrivedAtMs;
    const cpu = (await cpuSeconds(terminal.pid)) - before;
    return [
      { name: '200 KB of Markdown at once: processor time', unit: 's', value: cpu, must: 1.3 },
      { name: 'the same: last line painted after', unit: 'ms', value: painted, must: 700 },
      { name: 'the same: peak memory', unit: 'MB', value: (await memoryMb(terminal.pid)).peak },
    ];
  });
}

async function paced(): Promise<readonly Row[]> {
  const perSecond = 100;
  const words = BURST.slice(0, PACED_SECONDS * perSecond * 10);
  const answer = says(`${words}${END}`, { chunk: 10, delayMs: 1000 / perSecond });
  return withApi({ turns: [answer] }, async ({ project, api }) => {
    await using terminal = await openOuro(project, api.url);
    const bytesBefore = terminal.bytes().length;
    const before = await cpuSeconds(terminal.pid);
    terminal.type('go');
    terminal.press('enter');
    const request = await api.waitForRequest(1);
    await untilMs(request.arrivedAtMs + (PACED_SECONDS * 1000) / 2);
    const half = await cpuSeconds(terminal.pid);
    const echoes = await echoTimes(terminal);
    await terminal.waitForText(/The very end\./, 120_000);
    const end = await cpuSeconds(terminal.pid);
    const painted = terminal.bytes().length - bytesBefore;
    return [
      { name: `100 deltas a second for ${PACED_SECONDS} s: processor time`, unit: 's', value: end - before, must: 2.6 },
      {
        name: 'the same: bytes painted per byte of text',
        unit: 'times',
        value: painted / words.length,
        must: 5,
        floor: 1,
      },
      {
        name: 'the same: processor time, second half to first',
        unit: 'times',
        value: (end - half) / (half - before),
        must: 1.1,
      },
      { name: 'key → echo while streaming', unit: 'ms', value: median(echoes), must: 6 },
    ];
  });
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
