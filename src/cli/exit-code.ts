import type { AbortReason } from '../contracts/agent.ts';
import type { Terminal } from '../contracts/terminal.ts';
import { exhaustive } from '../lib/exhaustive.ts';

/** The exit code that tells the same story as the terminal reason. */
export function exitCodeOf(terminal: Terminal, abortedBy: AbortReason | undefined): number {
  switch (terminal.reason) {
    case 'completed':
    case 'stop_hook_prevented':
    case 'hook_stopped':
      return 0;
    case 'aborted_streaming':
    case 'aborted_tools':
      return signalCode(abortedBy);
    case 'max_turns':
    case 'max_output_tokens':
    case 'prompt_too_long':
    case 'blocking_limit':
    case 'image_error':
    case 'refusal':
    case 'budget_exhausted':
    case 'structured_output_failed':
    case 'api_error':
    case 'model_error':
      return 1;
    default:
      return exhaustive(terminal.reason);
  }
}

export function signalCode(abortedBy: AbortReason | undefined): number {
  if (abortedBy === 'sigterm') return 143;
  if (abortedBy === 'sighup') return 129;
  return 130;
}
