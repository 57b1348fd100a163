import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { readEnvironment } from '../../src/app/environment.ts';
import { runToExitCode } from '../../src/cli/run-cli.ts';
import type { ProcessIo } from '../../src/command/process-io.ts';
import { createShutdown } from '../../src/command/shutdown.ts';
import { bareEnvironment, withSettings } from './environment.ts';
import type { RunSettings } from './run-ouro.ts';
import type { TempProject } from './temp-project.ts';

/** The same options as for a process, without an open stdin. */
type HereSettings = Omit<RunSettings, 'stdin'> & {
  readonly stdin?: string;
  /** Lines typed at the terminal as answers, in order. */
  readonly answers?: readonly string[];
};

export type HereEnd = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs the complete program in this process, from its arguments to its exit code. */
export async function runHere(
  project: TempProject,
  args: readonly string[],
  apiUrl?: string,
  settings: HereSettings = {},
): Promise<HereEnd> {
  const env = withSettings(bareEnvironment(project, apiUrl), settings.env);
  const { stdin, answers, cwd = project.dir } = settings;
  const kind = stdin === undefined ? 'none' : 'stream';
  const program = startHere(args, { cwd, env, stdin: kind, ...(answers === undefined ? {} : { answers }) });
  const said: string[] = [];
  program.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text));
  program.stdin.end(stdin);
  const { code, stderr } = await program.ended;
  return { code, stdout: said.join(''), stderr };
}

/** A program in this process that behaves like a started one; it has pipes, but signals cannot reach it. */
export type HereProgram = EventEmitter & {
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly killed: boolean;
  readonly exitCode: number | null;
  /** Any signal asks it to end. */
  kill(): boolean;
  /** Resolves when everything it has written can be read. */
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>;
};

/** Starts the program in this process with open pipes. */
export function startHere(
  args: readonly string[],
  settings: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stdin?: ProcessIo['stdin']['kind'];
    readonly answers?: readonly string[];
  },
): HereProgram {
  const { cwd, env, stdin: kind = 'stream', answers } = settings;
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const state: { killed: boolean; exitCode: number | null } = { killed: false, exitCode: null };
  let stderr = '';
  const io: ProcessIo = {
    cwd,
    environment: readEnvironment(env),
    stdin:
      answers === undefined
        ? { isTty: false, kind, chunks: () => stdin }
        : { isTty: true, kind, chunks: () => typed(answers) },
    stdout: {
      isTty: false,
      columns: () => 80,
      write: (text) => void stdout.write(text),
      writePrintable: (text) => void stdout.write(text),
      checkOpen: () => true,
      hasFailed: () => false,
      flushed: async () => undefined,
      onFailed: (listener) => void stdout.once('close', listener),
    },
    onOrphaned: () => undefined,
    stderr: {
      isTty: false,
      write: (text) => {
        stderr += text;
      },
    },
  };
  const shutdown = createShutdown({ onSignal: () => () => undefined, exit: () => undefined });

  async function run() {
    const code = await shutdown.finish(await runToExitCode(args, io, shutdown));
    const read = new Promise((resolve) => stdout.once('close', resolve));
    stdout.end();
    await read;
    program.exitCode = code;
    program.emit('exit', code, null);
    return { code, stderr };
  }

  const kill = () => {
    program.killed = true;
    shutdown.start('sigterm');
    return true;
  };
  const program = Object.assign(new EventEmitter(), { stdin, stdout, ...state, kill });
  return Object.assign(program, { ended: run() });
}

async function* typed(answers: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const answer of answers) yield Buffer.from(`${answer}\n`);
}
