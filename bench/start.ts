import { says } from '../test/support/api/reply.ts';
import { LAUNCHER } from '../test/support/run-ouro.ts';
import type { TempProject } from '../test/support/temp-project.ts';
import { PROMPT, startInTerminal, timed, withApi } from './programs.ts';
import { type Measure, repeated } from './row.ts';

const ROUNDS = 15;
const BARE_BUN = [process.execPath, '--no-env-file', '-e', '0'];

export const start: Measure = {
  name: 'start',
  description: 'from the command to its first output, its prompt and its first request',
  run: () =>
    withApi({ turns: () => says('Hello.') }, async ({ project, api }) => {
      await timed([LAUNCHER, '--version'], project);
      const floor = await repeated(ROUNDS, async () => (await timed(BARE_BUN, project)).wallMs);
      const version = await repeated(ROUNDS, async () => (await timed([LAUNCHER, '--version'], project)).wallMs);
      const help = await repeated(ROUNDS, async () => (await timed([LAUNCHER, '--help'], project)).wallMs);
      const prompt = await repeated(ROUNDS, () => untilPrompt(project, api.url, OPENING_PROMPT));
      const echo = await repeated(ROUNDS, () => untilPrompt(project, api.url, OPENING_PROMPT, 'x'));
      const screen = await repeated(ROUNDS, () => untilPrompt(project, api.url, PROMPT));
      let asked = 0;
      const request = await repeated(ROUNDS, async () => {
        const startedAt = performance.now();
        await using terminal = startInTerminal(project, api.url);
        // Typed before the program is ready, as users do.
        terminal.type('hello');
        await terminal.waitForText(/^[▌|] hello/m, 30_000);
        terminal.press('enter');
        asked += 1;
        return (await api.waitForRequest(asked)).arrivedAtMs - startedAt;
      });
      return [
        { name: '`--version`', unit: 'ms', value: version, must: 25, floor },
        { name: '`--help`', unit: 'ms', value: help, must: 60, floor },
        { name: 'command → prompt accepts keys', unit: 'ms', value: prompt, must: 70 },
        { name: 'command → first key shown, typed at the prompt', unit: 'ms', value: echo, must: 90 },
        { name: 'command → whole screen', unit: 'ms', value: screen, must: 110 },
        { name: 'command → first request, typed at once', unit: 'ms', value: request, must: 250 },
      ];
    }),
};

/** The prompt that takes keys before the screen is loaded, or the composer. */
const OPENING_PROMPT = /^[▏▌|]/m;

/** Returns the time until a prompt is shown, or until it shows the keys that are typed then. */
async function untilPrompt(project: TempProject, apiUrl: string, prompt: RegExp, keys?: string): Promise<number> {
  const startedAt = performance.now();
  await using terminal = startInTerminal(project, apiUrl);
  await terminal.waitForText(prompt, 30_000);
  if (keys !== undefined) {
    terminal.type(keys);
    await terminal.waitForText(new RegExp(`${prompt.source} ${keys}`, 'm'), 30_000);
  }
  return performance.now() - startedAt;
}
