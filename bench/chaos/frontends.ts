import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { ApiServer } from '../../test/support/api/server.ts';
import { terminalEnvironment } from '../../test/support/environment.ts';
import { withHungMount } from '../../test/support/hung-mount.ts';
import { livingProcesses } from '../../test/support/processes.ts';
import { LAUNCHER, startProgram } from '../../test/support/run-ouro.ts';
import type { TempProject } from '../../test/support/temp-project.ts';
import { openTerminal } from '../../test/support/terminal/virtual-terminal.ts';
import type { Dice } from './dice.ts';

/** A running ouro, on a screen or driven by a host. */
export type Frontend = {
  readonly pid: number;
  /** Sends a prompt. */
  sendPrompt(text: string): Promise<void>;
  /** Presses a random key or resizes the window. */
  disturb(dice: Dice): void;
  /** Closes stdin or the terminal. */
  leave(): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code or signal. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Lists terminal modes that were not restored. */
  listLeftModes(): readonly string[];
  remove(): Promise<void>;
};

const SHORT_TIMEOUTS = { OURO_STREAM_IDLE_TIMEOUT_MS: '400', OURO_HEADER_TIMEOUT_MS: '2000', IS_SANDBOX: '1' };
const HELPER = join(import.meta.dirname, '../../test/support/terminal/unread-terminal.mjs');
const ALLOWED = ['--allowedTools', 'Bash', 'Read', 'Grep', 'Write'];
const BYPASS = '--dangerously-skip-permissions';

/** Starts ouro as a host does, over stdin, or with a mount in the workspace that never answers. */
export async function openHost(project: TempProject, api: ApiServer, mount: 'none' | 'hung'): Promise<Frontend> {
  const args = ['-p', '--input-format=stream-json', '--output-format=stream-json', '--verbose', BYPASS];
  const folder = join(project.dir, 'dead');
  if (mount === 'hung') await mkdir(folder);
  const command = [LAUNCHER, ...args];
  const running = startProgram(project, mount === 'hung' ? withHungMount(folder, ...command) : command, api.url, {
    env: SHORT_TIMEOUTS,
    stdin: 'open',
  });
  return {
    pid: running.child.pid ?? 0,
    sendPrompt: async (content) => running.sendLine({ type: 'user', message: { role: 'user', content } }),
    disturb: () => undefined,
    leave: () => void running.child.stdin.end(),
    kill: (signal) => void running.child.kill(signal),
    ended: running.ended,
    listLeftModes: () => [],
    remove: running.kill,
  };
}

/** Starts ouro in a terminal. */
export async function openScreen(project: TempProject, api: ApiServer): Promise<Frontend> {
  const env = { ...terminalEnvironment(project, api.url), ...SHORT_TIMEOUTS };
  const terminal = openTerminal([LAUNCHER, '--trust', ...ALLOWED], { cwd: project.dir, env, cols: 100, rows: 30 });
  await terminal.waitForText(/^▌ /m, 30_000);
  return {
    pid: terminal.pid,
    async sendPrompt(text) {
      terminal.press('ctrl+u');
      terminal.type(text);
      await terminal.waitForText(new RegExp(text), 30_000);
      terminal.press('enter');
    },
    disturb(dice) {
      const size = { cols: 20 + dice.below(120), rows: 6 + dice.below(40) };
      dice.pick([
        () => terminal.resize(size),
        () => terminal.press('esc'),
        () => {
          terminal.type('words that are never sent');
          terminal.press('ctrl+u');
        },
      ])();
    },
    leave: () => terminal.hangUp(),
    kill(signal) {
      process.kill(terminal.pid, signal);
    },
    ended: terminal.exited,
    listLeftModes: () => findLeftModes(Buffer.from(terminal.bytes()).toString('latin1')),
    remove: terminal.kill,
  };
}

/** Starts ouro with a prompt in a terminal that nobody reads from then on, until it has ended. */
export async function openUnreadScreen(project: TempProject, api: ApiServer, prompt: string): Promise<Frontend> {
  const env = { ...terminalEnvironment(project, api.url), ...SHORT_TIMEOUTS };
  const command = [LAUNCHER, '--trust', ...ALLOWED, '--', prompt];
  const helper = spawn(process.execPath, [HELPER, ...command], { cwd: project.dir, env });
  const lines = createInterface(helper.stdout)[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  await api.waitForRequest(1);
  helper.kill('SIGSTOP');
  const goOn = async () => {
    while ((await livingProcesses()).some((process) => process.pid === pid)) await wait(20);
    helper.kill('SIGCONT');
  };
  const kill = (signal: NodeJS.Signals) => {
    process.kill(pid, signal);
    void goOn();
  };
  return {
    pid,
    sendPrompt: async () => undefined,
    disturb: () => undefined,
    leave: () => kill('SIGHUP'),
    kill,
    ended: once(helper, 'exit').then(() => ({ code: 0, signal: null })),
    // Output that the terminal did not read is lost with it.
    listLeftModes: () => [],
    async remove() {
      helper.kill('SIGKILL');
    },
  };
}

/** Lists modes that a shell would find changed: alternate screen, cursor, mouse, bracketed paste, focus reports. */
function findLeftModes(bytes: string): readonly string[] {
  const last = new Map<string, string>();
  for (const [, modes = '', to = ''] of bytes.matchAll(/\x1b\[\?([\d;]+)([hl])/g)) {
    for (const mode of modes.split(';')) last.set(mode, to);
  }
  const wanted = new Map([
    ['25', 'h'],
    ...['1049', '1000', '1002', '1003', '1004', '1006', '2004', '2026'].map((mode) => [mode, 'l'] as const),
  ]);
  return [...wanted].flatMap(([mode, to]) =>
    (last.get(mode) ?? to) === to ? [] : [`The terminal is left in mode ${mode}.`],
  );
}
