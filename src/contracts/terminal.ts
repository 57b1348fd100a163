import type { JsonValue } from './json.ts';
import type { ModelFailure } from './model.ts';

/** Why the loop goes on. */
export type ContinueReason =
  | 'next_turn'
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

/** Why the loop ends. */
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
  'structured_output_failed',
  'api_error',
  'model_error',
  'aborted_streaming',
  'aborted_tools',
] as const;

/** Why a query ended. */
export type TerminalReason = (typeof TERMINAL_REASONS)[number];

/** The end of a query, with what is known of it. */
export type Terminal = {
  readonly reason: TerminalReason;
  readonly failure?: ModelFailure;
  readonly words?: string;
  /** Whoever watches the turns wanted it to end here: what waits stays where it is. */
  readonly isFinal?: true;
  readonly structuredOutput?: JsonValue;
};

/** Why a run ended, for a person; a hook's words are told as such. */
export function endWords({ reason, words }: Pick<Terminal, 'reason' | 'words'>): string {
  if (words === undefined) return `The run ended: ${reason.replaceAll('_', ' ')}.`;
  const isOfHook = reason === 'hook_stopped' || reason === 'stop_hook_prevented';
  return isOfHook ? `A hook ended the run: ${words}` : words;
}

/** The limit that ended a run, where the provider has said when it is reset. */
export function limitOf({ failure }: Terminal): (ModelFailure & { readonly retryAfterMs: number }) | undefined {
  const retryAfterMs = failure?.retryAfterMs ?? failure?.resetsAfterMs;
  if (failure === undefined || retryAfterMs === undefined) return undefined;
  const { kind } = failure;
  return kind === 'rate_limited' || kind === 'overloaded' ? { ...failure, retryAfterMs } : undefined;
}
