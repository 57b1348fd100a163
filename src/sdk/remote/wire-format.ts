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
export const callSchema = z.strictObject({ id: z.string().max(100), method: z.string(), args: z.array(z.unknown()) });

/** A line of the stream. `cursor` numbers the lines of one server; a client continues after the last one it has. */
export type StreamLine = { readonly cursor: number; readonly server: string } & (
  | { readonly state: AgentSnapshot }
  | { readonly event: AgentEvent }
  | { readonly result: CallResult }
);

/** The result of a call. */
export type CallResult =
  | { readonly id: string; readonly ok: true; readonly value: unknown }
  | { readonly id: string; readonly ok: false; readonly error: string };

/** Schema of a line: the client trusts the server it was told to use, so only the envelope is checked. */
export const lineSchema = z.custom<StreamLine>(
  (line) => typeof line === 'object' && line !== null && 'cursor' in line && 'server' in line,
);
