import { chmodSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentEvent } from '../contracts/event.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import { messageOf } from '../lib/errors.ts';
import { withoutSecrets } from '../lib/text/secrets.ts';

/** What `--debug` writes: one line of JSON per event, with its time. */
export type DebugLog = {
  /** A sentence that says where it is, or why there is none. */
  readonly words: string;
  readonly hear: (event: AgentEvent) => void;
};

/** Opened at once, so that a run that ends badly leaves its log; `undefined` when nobody asked. */
export function openDebugLog(
  options: Pick<RunOptions, 'debug' | 'debugFile'>,
  ouroHome: string,
  sessionId: string,
  now: () => Date,
): DebugLog | undefined {
  if (options.debug === 'off') return undefined;
  const file = options.debugFile ?? join(ouroHome, 'debug', `${sessionId}.jsonl`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const handle = openSync(file, 'a', 0o600);
    // The file may have been there before; what it holds is as private as the session.
    chmodSync(file, 0o600);
    return {
      words: `The debug log is ${file}`,
      hear(event) {
        // The pieces of a reply are many and come again as a whole.
        if (event.type === 'message_update' || event.type === 'stream_event') return;
        writeSync(handle, `${withoutSecrets(JSON.stringify({ at: now().toISOString(), ...event }))}\n`);
      },
    };
  } catch (thrown) {
    return { words: `There is no debug log: ${messageOf(thrown)}.`, hear: () => undefined };
  }
}
