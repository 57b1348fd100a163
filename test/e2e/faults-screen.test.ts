import { expect } from 'vitest';
import { disconnectAt, overloaded, rateLimited, stallAt } from '../support/api/faults.ts';
import { type ApiTurn, type StreamFault, says, status } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

/**
 * ouro with a prompt, in front of an API that has its faults; the first pause is long, so that it can be seen. The prompt
 * is not typed: soon after another key, `r` would be the beginning of a text.
 */
async function ask(
  turns: readonly ApiTurn[],
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = { OURO_RETRY_BASE_MS: '20000' },
) {
  const project = await createTempProject();
  const api = await startApiServer({ turns });
  const settings = { ...terminalEnvironment(project, api.url), ...env };
  const terminal = openTerminal([LAUNCHER, ...args, 'tell me'], { cwd: project.dir, env: settings });
  return {
    terminal,
    api,
    async [Symbol.asyncDispose]() {
      await terminal.kill();
      await api.close();
      await project.remove();
    },
  };
}

const STORY = 'Once upon a time there was a parser that never failed.';

longTest.concurrent('a retry counts down; r retries at once', async () => {
  await using ouro = await ask([overloaded(), says(STORY)]);
  await ouro.terminal.waitForText(/try 2 of 11 in \d+s {2}r now/);
  ouro.terminal.press('r');
  await ouro.terminal.waitForText(/never failed/);
  expect(ouro.api.requests()).toHaveLength(2);
});

longTest.concurrent('ESC ends the countdown, and the next prompt is sent', async () => {
  await using ouro = await ask([status(500), says(STORY)]);
  await ouro.terminal.waitForText(/try 2 of 11 in \d+s {2}r now/);
  ouro.terminal.press('esc');
  await ouro.terminal.waitForText(/Stopped/);
  ouro.terminal.type('again');
  ouro.terminal.press('enter');
  await ouro.terminal.waitForText(/never failed/);
  expect(ouro.api.requests()).toHaveLength(2);
});

longTest.concurrent.each(
  someOf<[string, (at: number) => StreamFault]>([
    ['breaks', disconnectAt],
    ['stalls', (at) => stallAt(at, new Promise(() => undefined))],
  ]),
)('a reply that %s half-way is removed and shown once', async (_how, fault) => {
  const half = says('Once upon a midnight dreary, and then', { chunk: 6, faults: [fault(7)] });
  const env = { OURO_RETRY_BASE_MS: '1', OURO_STREAM_IDLE_TIMEOUT_MS: '500' };
  await using ouro = await ask([half, says(STORY, { chunk: 6 })], [], env);
  await ouro.terminal.waitForText(/never failed\./);
  await ouro.terminal.waitForText(/^ +ask (?!.*esc)/m);
  const all = ouro.terminal.logicalLines().join('\n');
  expect(all.match(/Once upon/g)).toHaveLength(1);
  expect(all).not.toContain('midnight');
});

longTest.concurrent(
  'a refused key says what to check, and the prompt returns to the draft; a lasting limit says when it resets',
  async () => {
    await using ouro = await ask([status(401), rateLimited(7200)]);
    await ouro.terminal.waitForText(/refused the credentials/);
    await ouro.terminal.waitForText(/^[▌|] tell me/m);
    ouro.terminal.type(' a story');
    ouro.terminal.press('enter');
    await ouro.terminal.waitForText(/Try again after \d\d:\d\d/);
    const asked = ouro.api.requests().map(({ raw }) => raw.match(/"tell me[^"]*"/g));
    expect(asked).toEqual([['"tell me"'], ['"tell me a story"']]);
  },
);

longTest.concurrent('a fallback to another model is reported', async () => {
  const args = ['--model', 'opus', '--fallback-model', 'haiku'];
  const busy = [overloaded(), overloaded(), overloaded()];
  await using ouro = await ask([...busy, says(STORY)], args, { OURO_RETRY_BASE_MS: '1' });
  await ouro.terminal.waitForText(/never failed/);
  expect(ouro.terminal.logicalLines().join('\n')).toMatch(/haiku/);
});
