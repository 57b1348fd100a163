import { chmodSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentEvent } from '../../contracts/event.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { stringifyRedacted } from '../../lib/text/redact-secrets.ts';

/** The log written for `--debug`: one line of JSON per event, with its time. */
export type DebugLog = {
  /** Sentence for the user: the path of the log, or why it could not be opened. */
  readonly message: string;
  readonly onEvent: (event: AgentEvent) => void;
};

/** Opens the debug log, or returns `undefined` when debugging is off. Opened eagerly, so that a crash leaves a log. */
export function openDebugLog(
  options: CliRunOptions,
  ouroHome: string,
  sessionId: string,
  { now, removeKeys }: { readonly now: () => Date; readonly removeKeys: (text: string) => string },
): DebugLog | undefined {
  if (options.debug === 'off') return undefined;
  const file = options.debugFile ?? join(ouroHome, 'debug', `${sessionId}.jsonl`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const handle = openSync(file, 'a', 0o600);
    // An existing file keeps its old mode, and the log is as private as the session.
    chmodSync(file, 0o600);
    return {
      message: `Debug log: ${file}`,
      onEvent(event) {
        // Deltas are frequent, and their content is logged again with the complete message.
        if (event.type === 'message_update' || event.type === 'stream_event') return;
        writeSync(handle, `${removeKeys(stringifyRedacted({ at: now().toISOString(), ...event }))}\n`);
      },
    };
  } catch (thrown) {
    return { message: `The debug log could not be opened: ${getErrorPhrase(thrown)}.`, onEvent: () => undefined };
  }
}
