import { getErrorMessage } from '../../lib/errors.ts';
import { runShellCommand } from '../../lib/processes/find-shell.ts';
import { requireProgramOutput } from '../../lib/processes/run-program.ts';
import { startOutsideWorkspace } from '../../lib/programs/start-outside-workspace.ts';
import { KeyUnavailableError } from '../stream/failures.ts';
import type { CloudSettings } from './cloud-settings.ts';

/** Long enough for the user to sign in with a browser. */
const TIMEOUT_MS = 180_000;

/** Runs a configured command that signs in or prints credentials and returns its output. Errors name the setting. */
export async function runCredentialCommand(
  setting: string,
  command: string,
  { variables, onSignIn }: Pick<CloudSettings, 'variables' | 'onSignIn'>,
): Promise<string> {
  const end = await runShellCommand('sh', command, {
    env: variables,
    timeoutMs: TIMEOUT_MS,
    check: startOutsideWorkspace,
    use: 'reads',
    ...(onSignIn && { onLine: (line: string) => onSignIn(setting, line) }),
  });
  try {
    return requireProgramOutput('it', end);
  } catch (cause) {
    const reason = getErrorMessage(cause).trim().split('\n').at(-1) ?? '';
    throw new KeyUnavailableError(`The ${setting} command failed: ${reason}`, { cause });
  }
}

/** Wraps a renewal so that concurrent and immediately following calls share one run, as sub-agents fail together. */
export function coalesceRenewals(renew: () => Promise<boolean>, now: () => number = Date.now): () => Promise<boolean> {
  let running: Promise<boolean> | undefined;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - renewedAtMs < SHARE_RESULT_MS) return Promise.resolve(true);
    running ??= renew().finally(() => {
      running = undefined;
    });
    return running.then((isRenewed) => {
      if (isRenewed) renewedAtMs = now();
      return isRenewed;
    });
  };
}

/** Long enough for requests that were in flight, short enough to retry a renewal that did not help. */
const SHARE_RESULT_MS = 5_000;
