import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { messageOf } from '../../lib/errors.ts';
import { errnoOf } from '../../lib/files/errno.ts';
import { branding } from '../../lib/processes/brand.ts';
import { startTimeOf } from '../../lib/processes/process-facts.ts';
import { endTree, MARKER } from '../../lib/processes/process-tree.ts';
import type { Launch } from '../config/configured-server.ts';
import type { ServerLedger } from './mcp-parts.ts';
import { createStdioOutput } from './stdio-output.ts';

export type StdioStart = {
  readonly launch: Extract<Launch, { kind: 'stdio' }>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly ledger: ServerLedger | undefined;
};

/** A transport, and what can be said about why it ended. */
export type OpenTransport = { readonly transport: Transport; readonly describeEnd: () => string | undefined };

/** How long a server may take to leave once its standard input has ended. */
const GRACE_MS = 500;
/** And how long it may take to heed TERM. */
const KILL_AFTER_MS = 1_000;
/** How long a dead server's pipes may stay open before it counts as ended. */
const DRAIN_MS = 100;

/** Speaks with a process over its pipes; the process leads a group of its own and nothing of the group outlives it. */
export function stdioTransport(start: StdioStart): OpenTransport {
  let child: Child | undefined;
  let ending: string | undefined;
  let closed: Promise<void> | undefined;
  const output = createStdioOutput(
    (message) => transport.onmessage?.(message),
    (why) => {
      // Nothing more is read; the process and its group are ended.
      ending ??= why;
      child?.stdout.removeAllListeners('data').pause();
      void transport.close();
    },
  );

  /** Resolves when the process runs. When it has gone, and what held its pipes, the transport closes by itself. */
  function launch(): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (thrown: unknown) => {
        ending ??= startProblem(start.launch.command, thrown);
        reject(new Error(ending));
      };
      let running: Child;
      try {
        running = spawnServer(start);
      } catch (thrown) {
        return refuse(thrown);
      }
      child = running;
      running.stdin.on('error', () => undefined);
      running.stderr.on('data', output.error);
      running.stdout.on('data', output.out);
      running.once('error', (problem) => {
        refuse(problem);
        void transport.close();
      });
      running.once('spawn', resolve);
      running.once('close', () => void transport.close());
      running.once('exit', (code, signal) => {
        ending ??= signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
        setTimeout(() => void transport.close(), DRAIN_MS);
      });
    });
  }

  async function end(): Promise<void> {
    if (child?.pid !== undefined) await endServer(child, child.pid, start);
    transport.onclose?.();
  }

  const transport: Transport = {
    async start() {
      await launch();
      if (child?.pid === undefined) return;
      const facts = { pgid: child.pid, startTime: startTimeOf(child.pid) ?? '', marker: start.marker };
      start.ledger?.started({ ...facts, command: start.launch.command });
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        if (child?.stdin.writable !== true) return reject(new Error(ending ?? 'The server is not running.'));
        child.stdin.write(`${JSON.stringify(message)}\n`, (problem) => (problem ? reject(problem) : resolve()));
      }),
    close() {
      closed ??= end();
      return closed;
    },
  };

  return {
    transport,
    describeEnd() {
      const last = output.lastWords();
      return last === undefined ? ending : `${ending ?? 'said nothing that is MCP'}; ${last}`;
    },
  };
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function spawnServer({ launch, cwd, env, marker }: StdioStart): Child {
  const marked = { ...env, [MARKER]: marker };
  const [file, args] = branded(launch, marked, cwd);
  return spawn(file, args, {
    cwd,
    env: marked,
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Through a shell that brands what it becomes; a command that is not there is started as it is, and says so itself. */
function branded(
  { command, args }: StdioStart['launch'],
  env: Readonly<Record<string, string>>,
  cwd: string,
): readonly [string, string[]] {
  const brand = branding(env);
  const isThere = (file: string) => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  };
  const places = command.includes('/')
    ? [resolve(cwd, command)]
    : (env.PATH ?? '').split(':').map((at) => join(at, command));
  const found = places.find(isThere);
  if (brand === '' || found === undefined || !isThere(SHELL)) return [command, [...args]];
  return [SHELL, ['-c', `${brand}exec "$0" "$@"`, found, ...args]];
}

const SHELL = '/bin/sh';

/** The end of its input asks a server to leave; then its whole group is ended. */
async function endServer(child: Child, pid: number, { marker, ledger }: StdioStart): Promise<void> {
  child.stdin.end();
  await exited(child, GRACE_MS);
  const killAt = performance.now() + KILL_AFTER_MS;
  await endTree({ groupId: pid, marker }, () => performance.now() >= killAt);
  ledger?.ended(pid);
}

function exited(child: Child, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, graceMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function startProblem(command: string, thrown: unknown): string {
  const code = errnoOf(thrown);
  if (code === 'ENOENT') return `the command "${command}" was not found`;
  if (code === 'EACCES') return `"${command}" may not be executed`;
  return `"${command}" could not be started: ${messageOf(thrown)}`;
}
