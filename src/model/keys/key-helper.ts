import { messageOf } from '../../lib/errors.ts';
import { createHanging } from '../../lib/processes/hanging.ts';
import { type ProgramEnd, printed } from '../../lib/processes/run-program.ts';
import { runScript } from '../../lib/processes/run-script.ts';
import { KeyUnavailable } from './key-unavailable.ts';

const TIMEOUT_MS = 10_000;
/** Keys of helpers are short-lived; this one is asked for anew after a while. */
const KEEP_MS = 5 * 60_000;

/** A key that comes from a command. */
export type KeyHelper = {
  readonly key: () => Promise<string>;
  /** The key was refused: the next one is asked for anew. */
  readonly forget: () => void;
};

/** The key as the configured command prints it. A command that fails says so in the words of a refused request. */
export function createKeyHelper(
  command: string,
  variables: Readonly<Record<string, string>>,
  now: () => number,
  timeoutMs = TIMEOUT_MS,
): KeyHelper {
  let known: { readonly key: string; readonly atMs: number } | undefined;
  const hanging = createHanging(now);
  async function key(): Promise<string> {
    if (known !== undefined && now() - known.atMs < KEEP_MS) return known.key;
    if (hanging.isPaused(command)) throw new KeyUnavailable(`${FAILED}: it hung, and is not started again yet`);
    const end = await runScript('sh', command, { env: variables, timeoutMs, killSignal: 'SIGKILL' });
    hanging.note(command, { timedOut: end.timedOut, tookMs: timeoutMs });
    const found = keyIn(end);
    known = { key: found, atMs: now() };
    return found;
  }

  return {
    key,
    forget() {
      known = undefined;
    },
  };
}

const FAILED = 'The command of apiKeyHelper failed';

function keyIn(end: ProgramEnd): string {
  let text: string;
  try {
    text = printed('it', end).trim();
  } catch (cause) {
    throw new KeyUnavailable(`${FAILED}: ${firstLine(messageOf(cause))}`, { cause });
  }
  if (text === '') throw new KeyUnavailable('The command of apiKeyHelper printed no key.');
  return text;
}

function firstLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
