import { outputOf } from '../../lib/processes/run-program.ts';

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
): KeyHelper {
  let known: { readonly key: string; readonly atMs: number } | undefined;
  async function key(): Promise<string> {
    if (known !== undefined && now() - known.atMs < KEEP_MS) return known.key;
    const stdout = await outputOf('/bin/sh', ['-c', command], {
      env: variables,
      timeoutMs: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    }).catch((cause: Error) => {
      throw new KeyUnavailable(`The command of apiKeyHelper failed: ${firstLine(cause.message)}`, { cause });
    });
    const printed = stdout.trim();
    if (printed === '') throw new KeyUnavailable('The command of apiKeyHelper printed no key.');
    known = { key: printed, atMs: now() };
    return printed;
  }

  return {
    key,
    forget() {
      known = undefined;
    },
  };
}

/** Known by its name where requests fail: there is no key to send. */
class KeyUnavailable extends Error {
  override readonly name = 'KeyUnavailable';
}

function firstLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
