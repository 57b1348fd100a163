import { z } from 'zod';
import type { AgentEvent } from '../../contracts/event.ts';
import type { AgentSnapshot } from '../agent/options.ts';

/** The commands that a client may call; their arguments and results are JSON. */
export const REMOTE_METHODS = [
  ...['prompt', 'continue', 'resume', 'steer', 'followUp', 'pin', 'append', 'replaceMessages', 'change', 'compact'],
  ...['suspend', 'abort', 'retryNow', 'unqueue', 'clearAllQueues', 'reset', 'withdraw', 'setQueueMode'],
  ...['answerPermission', 'answerQuestion', 'waitForIdle'],
] as const;

/** A call of a client. The result comes with the stream, under the same id. */
export const remoteCallSchema = z.strictObject({
  id: z.string().max(100),
  method: z.string(),
  args: z.array(z.unknown()),
});

/** A line of the stream. `cursor` numbers the lines of one server; a client continues after the last one it has. */
export type RemoteStreamLine = RemoteStreamContent & { readonly cursor: number; readonly server: string };

/** The content of a line: the whole state, an event after it, or the result of a call. */
export type RemoteStreamContent =
  | { readonly state: AgentSnapshot }
  | { readonly event: AgentEvent }
  | { readonly result: RemoteCallResult };

/** The result of a call. */
export type RemoteCallResult =
  | { readonly id: string; readonly ok: true; readonly value: unknown }
  | { readonly id: string; readonly ok: false; readonly error: string };

/** Schema of a line: the client trusts the server it was told to use, so only the envelope is checked. */
export const remoteStreamLineSchema = z.custom<RemoteStreamLine>(
  (line) => typeof line === 'object' && line !== null && 'cursor' in line && 'server' in line,
);
