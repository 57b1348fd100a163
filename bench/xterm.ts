// npm run xterm (needs Xvfb, xterm, xdotool and ImageMagick): resizes a plain xterm under Xvfb during a streamed reply
// and takes a screenshot.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import { says } from '../test/support/api/reply.ts';
import { terminalEnvironment } from '../test/support/environment.ts';
import { LAUNCHER } from '../test/support/run-ouro.ts';
import { withApi } from './programs.ts';

const DISPLAY = ':77';
const COLUMNS = [100, 44, 80, 40, 120, 52, 100];
const PICTURE = join(import.meta.dirname, '..', 'docs', 'screens', 'xterm-after-resizing.png');
const ANSWER = `The discount is taken twice, in \`total\` and again in \`discount\`. ${'It is then rounded, and the rest is dropped. '.repeat(16)}\n\n- first of the list\n- second of it\n\nThe very end.`;

await withApi({ turns: [says(ANSWER, { chunk: 6, delayMs: 40 })] }, async ({ project, api }) => {
  await using _server = startProgram('Xvfb', [DISPLAY, '-screen', '0', '1400x900x24', '-nolisten', 'tcp']);
  await setTimeout(1000);
  const env = {
    ...terminalEnvironment(project, api.url),
    DISPLAY,
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    LANG: 'C.UTF-8',
  };
  const looks = ['-fa', 'DejaVu Sans Mono', '-fs', '11', '-bg', '#1e1e1e', '-fg', '#d4d4d4', '-u8'];
  await using _xterm = startProgram(
    'xterm',
    ['-geometry', '100x30', ...looks, '-e', LAUNCHER, '--trust', 'where is the discount taken?'],
    {
      cwd: project.dir,
      env,
    },
  );
  await api.waitForRequest(1);
  const window = await runProgram('xdotool', ['search', '--onlyvisible', '--class', 'xterm']);
  for (const columns of COLUMNS) {
    await runProgram('xdotool', ['windowsize', '--usehints', window, String(columns), '30']);
    await setTimeout(700);
  }
  await setTimeout(4000);
  await runProgram('import', ['-window', window, '-colors', '64', PICTURE]);
});
process.stdout.write(`${PICTURE}\n`);
process.exit(0);

type SpawnEnvironment = { readonly cwd?: string; readonly env?: Record<string, string | undefined> };

function startProgram(file: string, args: readonly string[], options: SpawnEnvironment = {}): AsyncDisposable {
  const child = spawn(file, args, { stdio: 'ignore', ...options });
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
    },
  };
}

/** Runs a program that must succeed, and returns its last line of output. */
async function runProgram(file: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execa(file, args, { env: { DISPLAY } });
  return stdout.trim().split('\n').at(-1) ?? '';
}
