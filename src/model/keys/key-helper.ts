import { getErrorMessage } from '../../lib/errors.ts';
import { runShellCommand } from '../../lib/processes/find-shell.ts';
import { type ProgramResult, requireProgramOutput } from '../../lib/processes/run-program.ts';
import { createTimeoutBackoff } from '../../lib/processes/timeout-backoff.ts';
import { KeyUnavailableError } from '../stream/failures.ts';

const TIMEOUT_MS = 10_000;
/** Lifetime of a cached key; helpers usually print short-lived keys. */
const CACHE_TTL_MS = 5 * 60_000;

/** An API key printed by a command. */
export type KeyHelper = {
  /** Returns the key, running the command if none is cached. */
  readonly getKey: () => Promise<string>;
  /** Discards the cached key after it was rejected. */
  readonly forget: () => void;
};

/** Creates a key helper for a command. A failing command throws a `KeyUnavailableError` with a message for the user. */
export function createKeyHelper(
  command: string,
  variables: Readonly<Record<string, string>>,
  now: () => number,
  timeoutMs = TIMEOUT_MS,
): KeyHelper {
  let cached: { readonly key: string; readonly atMs: number } | undefined;
  const timeoutGuard = createTimeoutBackoff(now);
  async function getKey(): Promise<string> {
    if (cached !== undefined && now() - cached.atMs < CACHE_TTL_MS) return cached.key;
    if (timeoutGuard.isPaused(command)) throw new KeyUnavailableError(`${FAILED}: it timed out and is not retried yet`);
    const end = await runShellCommand('sh', command, { env: variables, timeoutMs, killSignal: 'SIGKILL' });
    timeoutGuard.record(command, { timedOut: end.timedOut, tookMs: timeoutMs });
    const newKey = parseKey(end);
    cached = { key: newKey, atMs: now() };
    return newKey;
  }

  return {
    getKey,
    forget() {
      cached = undefined;
    },
  };
}

const FAILED = 'The apiKeyHelper command failed';

function parseKey(end: ProgramResult): string {
  let text: string;
  try {
    text = requireProgramOutput('it', end).trim();
  } catch (cause) {
    throw new KeyUnavailableError(`${FAILED}: ${takeLastLine(getErrorMessage(cause))}`, { cause });
  }
  if (text === '') throw new KeyUnavailableError('The apiKeyHelper command printed no key.');
  return text;
}

function takeLastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
