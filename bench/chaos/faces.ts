import type { ApiServer } from '../../test/support/api/server.ts';
import { terminalEnvironment } from '../../test/support/environment.ts';
import { LAUNCHER, startOuro } from '../../test/support/run-ouro.ts';
import type { TempProject } from '../../test/support/temp-project.ts';
import { openTerminal } from '../../test/support/terminal/virtual-terminal.ts';
import type { Dice } from './dice.ts';

/** A running ouro that somebody talks to, whatever it is seen through. */
export type Face = {
  readonly pid: number;
  /** Says one prompt; it is heard when its turn comes. */
  say(words: string): Promise<void>;
  /** Whatever a person does with keys and the window meanwhile. */
  fidget(dice: Dice): void;
  /** Ends it as one who is done does. */
  leave(): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with how it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** What is wrong with the terminal it left. */
  traces(): readonly string[];
  remove(): Promise<void>;
};

const PATIENCE = { OURO_STREAM_IDLE_TIMEOUT_MS: '400', OURO_HEADER_TIMEOUT_MS: '2000', IS_SANDBOX: '1' };
const FREE = '--dangerously-skip-permissions';

export function openHost(project: TempProject, api: ApiServer): Face {
  const args = ['-p', '--input-format=stream-json', '--output-format=stream-json', '--verbose', FREE];
  const running = startOuro(project, args, api.url, { env: PATIENCE, stdin: 'open' });
  return {
    pid: running.child.pid ?? 0,
    say: async (content) => running.sendLine({ type: 'user', message: { role: 'user', content } }),
    fidget: () => undefined,
    leave: () => void running.child.stdin.end(),
    kill: (signal) => void running.child.kill(signal),
    ended: running.ended,
    traces: () => [],
    remove: running.kill,
  };
}

export async function openScreen(project: TempProject, api: ApiServer): Promise<Face> {
  const env = { ...terminalEnvironment(project, api.url), ...PATIENCE };
  const allowed = ['--allowedTools', 'Bash', 'Read', 'Grep', 'Write'];
  const terminal = openTerminal([LAUNCHER, '--trust', ...allowed], { cwd: project.dir, env, cols: 100, rows: 30 });
  await terminal.waitForText(/^▌ /m, 30_000);
  return {
    pid: terminal.pid,
    async say(words) {
      terminal.press('ctrl+u');
      terminal.type(words);
      await terminal.waitForText(new RegExp(words), 30_000);
      terminal.press('enter');
    },
    fidget(dice) {
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
    traces: () => modesLeft(Buffer.from(terminal.bytes()).toString('latin1')),
    remove: terminal.kill,
  };
}

/** Modes a shell would find changed: another screen, hidden cursor, mouse, marked pastes, reported focus. */
function modesLeft(bytes: string): readonly string[] {
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
