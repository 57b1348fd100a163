import { type ChildProcess, spawn } from 'node:child_process';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '../../lib/errors.ts';
import { errnoOf } from '../../lib/files/errno.ts';
import { startTimeOf } from '../../lib/processes/process-facts.ts';
import { endTree, MARKER } from '../../lib/processes/process-tree.ts';
import { cleanText } from '../clean-text.ts';
import type { Launch } from '../config/configured-server.ts';
import type { ServerLedger } from './mcp-parts.ts';

export type StdioStart = {
  readonly launch: Extract<Launch, { kind: 'stdio' }>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly ledger: ServerLedger | undefined;
};

/** A transport, and what can be said about why it ended. */
export type OpenTransport = { readonly transport: Transport; readonly describeEnd: () => string | undefined };

const TAIL_CHARS = 2_000;
const STRAY_SHOWN_CHARS = 100;
const LONGEST_LINE_BYTES = 32 * 1024 * 1024;
/** What a server may print between two messages that is none. */
const MOST_STRAY_CHARS = 1024 * 1024;
/** How long a server may take to leave once its standard input has ended. */
const GRACE_MS = 500;
/** And how long it may take to heed TERM. */
const KILL_AFTER_MS = 1_000;
/** How long a dead server's pipes may stay open before it counts as ended. */
const DRAIN_MS = 100;

/** Speaks with a process over its pipes; the process leads a group of its own and nothing of the group outlives it. */
export function stdioTransport(start: StdioStart): OpenTransport {
  const { command, args } = start.launch;
  let child: ChildProcess | undefined;
  let stray = '';
  let strayChars = 0;
  let errors = '';
  let ending: string | undefined;
  let closed: Promise<void> | undefined;

  const transport: Transport = {
    start: () =>
      new Promise((resolve, reject) => {
        const refuse = (thrown: unknown) => {
          ending ??= startProblem(command, thrown);
          reject(new Error(ending));
        };
        try {
          const running = spawn(command, [...args], {
            cwd: start.cwd,
            env: { ...start.env, [MARKER]: start.marker },
            detached: true,
            windowsHide: true,
            stdio: ['pipe', 'pipe', 'pipe'],
          });
          child = running;
          // It closes the transport by itself; nobody waits for that.
          void follow(running);
          running.once('error', refuse);
          running.once('spawn', () => {
            if (running.pid !== undefined) {
              const facts = { pgid: running.pid, startTime: startTimeOf(running.pid) ?? '' };
              start.ledger?.started({ ...facts, marker: start.marker, command });
            }
            resolve();
          });
        } catch (thrown) {
          refuse(thrown);
        }
      }),
    send: (message) =>
      new Promise((resolve, reject) => {
        const input = child?.stdin;
        if (input?.writable !== true) return reject(new Error(ending ?? 'The server is not running.'));
        input.write(`${JSON.stringify(message)}\n`, (problem) => (problem ? reject(problem) : resolve()));
      }),
    close() {
      closed ??= end();
      return closed;
    },
  };

  /** Resolves when the process and what held its pipes are gone. */
  function follow(running: ChildProcess): Promise<void> {
    running.stdin?.on('error', () => undefined);
    running.stderr?.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-TAIL_CHARS);
    });
    readLines(running);
    return new Promise<void>((resolve) => {
      running.once('error', () => resolve());
      running.once('close', () => resolve());
      running.once('exit', (code, signal) => {
        ending ??= signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
        setTimeout(resolve, DRAIN_MS);
      });
    }).then(() => transport.close());
  }

  function readLines(running: ChildProcess): void {
    let pending: Buffer[] = [];
    let bytes = 0;
    running.stdout?.on('data', (chunk: Buffer) => {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        hear(Buffer.concat([...pending, chunk.subarray(from, at)]).toString('utf8'));
        pending = [];
        bytes = 0;
        from = at + 1;
      }
      pending.push(chunk.subarray(from));
      bytes += chunk.length - from;
      if (bytes <= LONGEST_LINE_BYTES) return;
      pending = [];
      bytes = 0;
      giveUp(`sent a line of more than ${LONGEST_LINE_BYTES / 1024 / 1024} MB`);
    });
  }

  function hear(line: string): void {
    if (line.trim() === '') return;
    const message = readMessage(line);
    if (message !== undefined) {
      strayChars = 0;
      transport.onmessage?.(message);
      return;
    }
    // Banners and debug prints are common; they are kept only to explain a server that says nothing else.
    if (stray.length < STRAY_SHOWN_CHARS) stray = `${stray} ${line.slice(0, STRAY_SHOWN_CHARS)}`;
    strayChars += line.length + 1;
    if (strayChars <= MOST_STRAY_CHARS) return;
    giveUp(`printed more than ${MOST_STRAY_CHARS / 1024 / 1024} MB that is not MCP`);
  }

  /** Nothing more is read; the process and its group are ended. */
  function giveUp(why: string): void {
    ending ??= why;
    child?.stdout?.removeAllListeners('data').pause();
    void transport.close();
  }

  async function end(): Promise<void> {
    const running = child;
    if (running?.pid !== undefined) {
      running.stdin?.end();
      await exited(running, GRACE_MS);
      const killAt = performance.now() + KILL_AFTER_MS;
      await endTree({ groupId: running.pid, marker: start.marker }, () => performance.now() >= killAt);
      start.ledger?.ended(running.pid);
    }
    transport.onclose?.();
  }

  return {
    transport,
    describeEnd() {
      const last = lastWords(errors) ?? (stray === '' ? undefined : `it printed "${shorten(stray)}"`);
      return last === undefined ? ending : `${ending ?? 'said nothing that is MCP'}; ${last}`;
    },
  };
}

function readMessage(line: string): JSONRPCMessage | undefined {
  // A flood of other words costs no parsing.
  if (!/^\s*\{/.test(line)) return undefined;
  try {
    return JSONRPCMessageSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function exited(running: ChildProcess, graceMs: number): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, graceMs);
    running.once('exit', () => {
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

function lastWords(errors: string): string | undefined {
  const lines = cleanText(errors)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.length === 0 ? undefined : `its last words: ${shorten(lines.slice(-3).join(' / '))}`;
}

function shorten(text: string): string {
  const clean = cleanText(text).replaceAll(/\s+/g, ' ').trim();
  return clean.length > 300 ? `${clean.slice(0, 300)}…` : clean;
}
