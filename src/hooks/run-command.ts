import { spawn } from 'node:child_process';
import type { CommandEnd } from './run-hook.ts';

/** More than anybody reads; what a hook prints beyond it is dropped. */
const MAX_OUTPUT_BYTES = 1_000_000;
/** Within the three seconds that the end of the program may take. */
const KILL_AFTER_MS = 1_000;
/** How long pipes may stay open behind a hook that has ended. */
const DRAIN_MS = 200;

/** Runs a hook's command with its input on stdin, in its own process group, bounded in time and output. */
export async function runHookCommand(
  command: string,
  stdin: string,
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<CommandEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['--noprofile', '--norc', '-c', command], {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const out = collector();
    const err = collector();
    let timedOut = false;
    let killer: ReturnType<typeof setTimeout> | undefined;
    const stop = () => {
      signalGroup(child.pid, 'SIGTERM');
      killer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), KILL_AFTER_MS);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, options.timeoutMs);
    options.signal.addEventListener('abort', stop, { once: true });
    if (options.signal.aborted) stop();
    const tidy = () => {
      clearTimeout(timer);
      clearTimeout(killer);
      options.signal.removeEventListener('abort', stop);
    };
    child.stdout.on('data', out.add);
    child.stderr.on('data', err.add);
    // A hook that does not read its input closes the pipe early; that is its right.
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
    child.on('error', (problem) => {
      tidy();
      reject(problem);
    });
    child.on('exit', (code) => {
      tidy();
      // Grandchildren may hold the pipes open; those that left the group are not waited for.
      signalGroup(child.pid, 'SIGKILL');
      const drained = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(drained);
        resolve({ code, stdout: out.text(), stderr: err.text(), timedOut });
      });
    });
  });
}

function collector() {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add: (chunk: Buffer) => {
      if (size < MAX_OUTPUT_BYTES) chunks.push(chunk);
      size += chunk.length;
    },
    text: () => Buffer.concat(chunks).toString('utf8').slice(0, MAX_OUTPUT_BYTES),
  };
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has already ended.
  }
}
