import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { nodeFile } from '../../bootstrap/checkout.ts';
import { bareEnvironment, terminalEnvironment, withSettings } from '../environment.ts';
import { LAUNCHER } from '../run-ouro.ts';
import { WAIT_MS } from '../runs.ts';
import type { TempProject } from '../temp-project.ts';
import { openTerminal } from '../terminal/virtual-terminal.ts';

/** Something about the machine, the user or the folder that a start of ouro has to cope with. */
export type Surrounding = {
  readonly name: string;
  /** Shell text that starts the program, which is `"$@"`, in the project. `$ROOM` is the folder around it. */
  readonly start?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Files by their path from the project; the home is `../home`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly size?: readonly [cols: number, rows: number];
  readonly terminal?: 'answers' | 'mute';
  readonly needs?: Need;
  readonly outcome?: Outcome;
  /** The outcome of `npm start`; `npm` where npm or Node ends before ouro is started. */
  readonly npmStart?: Outcome | 'npm';
  /** `bun` where the runtime of the executable ends before ouro is started. */
  readonly executable?: 'bun';
};

/** The end of a start: a screen that can be left, an answer without a terminal, or one sentence. */
export type Outcome =
  | { readonly kind: 'screen'; readonly shows: RegExp }
  | { readonly kind: 'answer' }
  | { readonly kind: 'sentence'; readonly says: RegExp };

/** The first screen, or a question before it. */
export const SCREEN: Outcome = { kind: 'screen', shows: /^[▌|] /m };
/** The screen where lines are only appended. */
export const LINES: Outcome = { kind: 'screen', shows: /^You: /m };
/** The answer to a prompt, printed without a terminal. */
export const ANSWER: Outcome = { kind: 'answer' };
/** One sentence that says what is wrong. */
export const sentence = (says: RegExp): Outcome => ({ kind: 'sentence', says });

/** The requirements of a row; `strangers` where root may start ouro as a user who owns nothing. */
export type Need = 'namespaces' | 'root' | 'user' | 'strangers' | { readonly program: string };

/** Tells whether this machine has it. */
export function isGiven(need: Need): boolean {
  switch (need) {
    case 'namespaces':
      return spawnSync('/usr/bin/env', ['unshare', '-rm', 'true']).status === 0;
    case 'root':
      return process.getuid?.() === 0;
    case 'user':
      return process.getuid?.() !== 0;
    case 'strangers':
      return canStrangersStart();
    default:
      return spawnSync('/bin/sh', ['-c', 'command -v "$0"', need.program]).status === 0;
  }
}

const ROOT = join(import.meta.dirname, '../../..');
const PATH = [dirname(nodeFile()), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);

/** The ways to start ouro. */
export const STARTERS = {
  'bin/ouro': [LAUNCHER],
  'npm start': ['npm', '--prefix', ROOT, 'start', '--silent', '--'],
  'the executable': [join(ROOT, 'dist/ouro')],
} as const;

export type Starter = keyof typeof STARTERS;

/** The command of `setpriv` that becomes a user whom the system does not know. */
export const AS_A_STRANGER = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'] as const;

/** Tells whether another user may enter the checkout. */
function canStrangersStart(): boolean {
  const [setpriv, ...options] = AS_A_STRANGER;
  return spawnSync(setpriv, [...options, 'test', '-x', LAUNCHER]).status === 0;
}

/** Starts ouro in the surrounding and returns what contradicts the expected outcome; empty if nothing does. */
export async function tryStart(project: TempProject, surrounding: Surrounding, starter: Starter, apiUrl: string) {
  const { files = {}, start = 'exec "$@"', npmStart, executable, outcome: usual = SCREEN } = surrounding;
  const outcome = starter === 'npm start' && npmStart !== undefined ? npmStart : usual;
  if (outcome === 'npm' || (starter === 'the executable' && executable === 'bun')) return [];
  for (const [path, text] of Object.entries(files)) await project.write(path, text);
  mkdirSync(join(project.home, '..', 'tmp'), { recursive: true });
  const room = dirname(project.home);
  const isPrinting = outcome.kind === 'answer';
  const env = withSettings(
    { ...(isPrinting ? bareEnvironment : terminalEnvironment)(project, apiUrl), PATH, ROOM: room },
    surrounding.env,
  );
  const command = ['/bin/sh', '-c', start, 'sh', ...STARTERS[starter], ...(isPrinting ? ['-p', 'hi'] : [])];
  return isPrinting ? tryAnswer(command, env, project.dir) : tryScreen(command, env, project.dir, surrounding, outcome);
}

async function tryScreen(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
  { size: [cols, rows] = [80, 24], terminal: kind }: Surrounding,
  outcome: Exclude<Outcome, { kind: 'answer' }>,
): Promise<readonly string[]> {
  const background = kind === 'mute' ? 'mute' : 'dark';
  await using terminal = openTerminal(command, { cwd, env, cols, rows, background });
  const ended = terminal.exited.then(({ code, signal }) => `ended with ${signal ?? code}`);
  const printed = () => terminal.logicalLines().join('\n');
  if (outcome.kind === 'sentence') {
    const end = await Promise.race([ended, wait(WAIT_MS, 'no end', { ref: false })]);
    return [
      ...(/^ended with [1-9]/.test(end) ? [] : [end]),
      ...(outcome.says.test(printed()) ? [] : ['the sentence is missing']),
      ...listTraces(printed()),
    ].map((problem) => `${problem}:\n${printed()}`);
  }
  if (cols < 20 || rows < 5) {
    // Nothing can be read there; what counts is that the program lives and shows its screen in a window of usual size.
    const seen = terminal.waitForScreen(() => terminal.bytes().includes('\u001b[?2004h'));
    const isOpen = await Promise.race([seen.then(() => undefined), ended]);
    if (isOpen !== undefined) return [`${isOpen}:\n${printed()}`];
    terminal.resize({ cols: 80, rows: 24 });
  }
  const shown = await Promise.race([terminal.waitForText(outcome.shows).then(() => undefined), ended]);
  if (shown !== undefined) return [`${shown}:\n${printed()}`];
  terminal.type(/esc exit/.test(printed()) ? '\u001b' : '/exit\r');
  const left = await Promise.race([ended, wait(WAIT_MS, 'stayed', { ref: false })]);
  return [...(left === 'ended with 0' ? [] : [left]), ...listTraces(printed())].map(
    (problem) => `${problem}:\n${printed()}`,
  );
}

async function tryAnswer(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<readonly string[]> {
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return code === 0 && said.stdout === 'Hello.\n' && listTraces(said.stderr).length === 0
    ? []
    : [JSON.stringify({ code, ...said })];
}

/** Finds what only programmers read: stacks and listings of sources. */
function listTraces(text: string): readonly string[] {
  const found = /^\s+at .*[:(]\d+|^\s*\d+ \| |node:internal|\(\$bunfs|Internal error/m.exec(text);
  return found === null ? [] : [`an internal text is shown (${found[0].trim()})`];
}
