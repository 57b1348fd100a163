import type { JsonValue } from './json.ts';
import type { ModelFailure } from './model.ts';

/** The reasons why the loop continues. */
export type ContinueReason =
  | 'next_turn'
  | 'loop_reminder'
  | 'fallback_retry'
  | 'collapse_drain_retry'
  | 'reactive_compact_retry'
  | 'max_output_tokens_escalate'
  | 'max_output_tokens_recovery'
  | 'stop_hook_blocking'
  | 'token_budget_continuation'
  | 'pause_turn_resume'
  | 'empty_response_nudge'
  | 'follow_up';

/** The reasons why the loop ends. */
export const TERMINAL_REASONS = [
  'completed',
  'stop_hook_prevented',
  'hook_stopped',
  'max_turns',
  'max_output_tokens',
  'prompt_too_long',
  'blocking_limit',
  'image_error',
  'refusal',
  'budget_exhausted',
  'loop_detected',
  'structured_output_failed',
  'api_error',
  'model_error',
  'aborted_streaming',
  'aborted_tools',
] as const;

/** The reason why a query ended. */
export type TerminalReason = (typeof TERMINAL_REASONS)[number];

/** The end of a query, with its details. */
export type Terminal = {
  readonly reason: TerminalReason;
  readonly failure?: ModelFailure;
  readonly words?: string;
  /** The application ended the run after this turn, so queued messages stay queued. */
  readonly isFinal?: true;
  readonly structuredOutput?: JsonValue;
};

/** Describes for the user why a run ended. */
export function describeQueryEnd({ reason, words }: Pick<Terminal, 'reason' | 'words'>): string {
  if (words === undefined) return `The run ended: ${reason.replaceAll('_', ' ')}.`;
  const isOfHook = reason === 'hook_stopped' || reason === 'stop_hook_prevented';
  return isOfHook ? `A hook ended the run: ${words}` : words;
}

/** Returns the usage limit that ended a run, if the provider said when it is reset. */
export function getReachedUsageLimit({
  failure,
}: Terminal): (ModelFailure & { readonly retryAfterMs: number }) | undefined {
  const retryAfterMs = failure?.retryAfterMs ?? failure?.resetsAfterMs;
  if (failure === undefined || retryAfterMs === undefined) return undefined;
  const { kind } = failure;
  return kind === 'rate_limited' || kind === 'overloaded' ? { ...failure, retryAfterMs } : undefined;
}
