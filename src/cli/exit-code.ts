import type { AbortReason, EndingSignal } from '../contracts/agent.ts';
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

/** What a shell makes of a program that a signal has ended: 128 and the signal's number. */
const SIGNAL_CODES: Readonly<Record<EndingSignal, number>> = {
  sighup: 129,
  sigint: 130,
  sigquit: 131,
  sigabrt: 134,
  sigusr1: 138,
  sigusr2: 140,
  sigalrm: 142,
  sigterm: 143,
  sigxcpu: 152,
};

export function signalCode(abortedBy: AbortReason | undefined): number {
  if (abortedBy === undefined || abortedBy === 'user' || abortedBy === 'shutdown') return SIGNAL_CODES.sigint;
  return SIGNAL_CODES[abortedBy];
}
