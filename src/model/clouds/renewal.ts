import { messageOf } from '../../lib/errors.ts';
import { printed } from '../../lib/processes/run-program.ts';
import { runScript } from '../../lib/processes/run-script.ts';
import { KeyUnavailable } from '../keys/key-unavailable.ts';
import type { CloudSettings } from './cloud-settings.ts';

/** A person may have to sign in with a browser meanwhile. */
const TIMEOUT_MS = 180_000;

/** Runs a command of somebody's that signs in or prints credentials; what it printed. Its failure names the setting. */
export async function runRenewal(
  setting: string,
  command: string,
  { variables, onSignIn }: Pick<CloudSettings, 'variables' | 'onSignIn'>,
): Promise<string> {
  const end = await runScript('sh', command, {
    env: variables,
    timeoutMs: TIMEOUT_MS,
    ...(onSignIn && { onLine: (line: string) => onSignIn(setting, line) }),
  });
  try {
    return printed('it', end);
  } catch (cause) {
    const said = messageOf(cause).trim().split('\n').at(-1) ?? '';
    throw new KeyUnavailable(`The command of ${setting} failed: ${said}`, { cause });
  }
}

/** Sub-agents find out together that a token has run out: whoever comes during a renewal, or soon after, shares it. */
export function shareRenewal(renew: () => Promise<boolean>, now: () => number = Date.now): () => Promise<boolean> {
  let running: Promise<boolean> | undefined;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - renewedAtMs < SHARED_FOR_MS) return Promise.resolve(true);
    running ??= renew().finally(() => {
      running = undefined;
    });
    return running.then((isRenewed) => {
      if (isRenewed) renewedAtMs = now();
      return isRenewed;
    });
  };
}

/** Long enough for requests that were under way, and short enough for a renewal that was of no use. */
const SHARED_FOR_MS = 5_000;
