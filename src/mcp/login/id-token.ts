import type { McpIdentityProvider } from '../../contracts/settings.ts';
import { messageOf } from '../../lib/errors.ts';
import { printed } from '../../lib/processes/run-program.ts';
import { runScript } from '../../lib/processes/run-script.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';

/** Where the command runs, and what it is given as a server would be; asked each time. */
export type Surroundings = { readonly cwd: string; readonly env: () => Readonly<Record<string, string>> };

/** Time for a finger or a second factor, and less than a server has to start. */
const TIMEOUT_MS = 25_000;
const WORDS_CHARS = 300;

/** What the person was given when they signed in: as the entry says it, or as its command prints it now. */
export async function readIdToken(
  { idToken, idTokenCommand }: McpIdentityProvider,
  { cwd, env }: Surroundings,
  timeoutMs = TIMEOUT_MS,
): Promise<string> {
  if (idTokenCommand === undefined) return idToken ?? '';
  const end = await runScript('sh', idTokenCommand, { cwd, env: env(), timeoutMs, killSignal: 'SIGKILL' });
  let text: string;
  try {
    text = printed('it', end).trim();
  } catch (cause) {
    const last = messageOf(cause).trim().split('\n').at(-1) ?? '';
    throw new Error(`The command for the id token (idTokenCommand) failed: ${untrustedLine(last, WORDS_CHARS)}`, {
      cause,
    });
  }
  if (/^\S+$/.test(text)) return text;
  const what = text === '' ? 'no id token' : 'more than an id token';
  throw new Error(`The command for the id token (idTokenCommand) printed ${what}.`);
}
