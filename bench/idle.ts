import { says } from '../test/support/api/reply.ts';
import { cpuSeconds, memoryMb, openOuro, withApi } from './programs.ts';
import { growth, type Measure, median } from './row.ts';
import { echoTimes } from './stream.ts';

const IDLE_MS = 30_000;
const PROMPTS = 200;

export const idle: Measure = {
  name: 'idle',
  description: `${IDLE_MS / 1000} s idle, keys while idle, then ${PROMPTS} prompts`,
  run: () =>
    withApi({ turns: () => says('Fine.') }, async ({ project, api }) => {
      await using terminal = await openOuro(project, api.url);
      const echo = median(await echoTimes(terminal));
      terminal.press('ctrl+u');
      await terminal.waitForText(/^[▌|] Say what (?:you|is|to)/m);
      const [cpuBefore, bytesBefore] = [await cpuSeconds(terminal.pid), terminal.bytes().length];
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
      const idleCpu = (await cpuSeconds(terminal.pid)) - cpuBefore;
      const idleBytes = terminal.bytes().length - bytesBefore;
      const { now: memoryBefore } = await memoryMb(terminal.pid);
      const cpuStart = await cpuSeconds(terminal.pid);
      const waits: number[] = [];
      for (let round = 1; round <= PROMPTS; round += 1) {
        terminal.type(`prompt ${round}`);
        await terminal.waitForText(new RegExp(`^[▌|] prompt ${round}$`, 'm'));
        const enteredAt = performance.now();
        terminal.press('enter');
        waits.push((await api.waitForRequest(round)).arrivedAtMs - enteredAt);
        await terminal.waitForScreen(
          (rows) => rows.some((row) => /^[▌|] Say what (?:you|is|to)/.test(row)) && !/esc stop/.test(rows.join('\n')),
        );
      }
      const { now: memoryAfter } = await memoryMb(terminal.pid);
      const cpu = ((await cpuSeconds(terminal.pid)) - cpuStart) / PROMPTS;
      return [
        { name: 'key → echo at rest', unit: 'ms', value: echo, must: 4 },
        { name: `${IDLE_MS / 1000} s idle: processor time`, unit: 'ms', value: idleCpu * 1000, must: 60 },
        { name: `${IDLE_MS / 1000} s idle: bytes written`, unit: 'bytes', value: idleBytes, must: 0 },
        { name: `${PROMPTS} prompts: memory growth`, unit: 'MB', value: memoryAfter - memoryBefore, must: 80 },
        { name: `${PROMPTS} prompts: processor time per prompt`, unit: 's', value: cpu, must: 0.03 },
        {
          name: `${PROMPTS} prompts: Enter → request, last third to first`,
          unit: 'times',
          value: growth(waits),
          must: 1.3,
        },
      ];
    }),
};
