import type { AbortReason, TerminationSignal } from '../contracts/agent.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import { exhaustive } from '../lib/errors.ts';

/** Returns the exit code for the way a run ended. */
export function getExitCode(terminal: Terminal, abortedBy: AbortReason | undefined): number {
  switch (terminal.reason) {
    case 'completed':
    case 'stop_hook_prevented':
    case 'hook_stopped':
      return 0;
    case 'aborted_streaming':
    case 'aborted_tools':
      return getSignalExitCode(abortedBy);
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
    case 'loop_detected':
      return LOOP_EXIT_CODE;
    default:
      return exhaustive(terminal.reason);
  }
}

/** Exit code of a run that was ended because the model repeated itself. */
export const LOOP_EXIT_CODE = 3;

/** Exit codes by signal, as shells report them: 128 plus the signal number. */
const SIGNAL_CODES: Readonly<Record<TerminationSignal, number>> = {
  sighup: 129,
  sigint: 130,
  sigquit: 131,
  sigabrt: 134,
  sigusr1: 138,
  sigusr2: 140,
  sigalrm: 142,
  sigterm: 143,
  sigxcpu: 152,
  sigvtalrm: 154,
  sigprof: 155,
  sigio: 157,
};

/** Returns the exit code of a process ended by a signal; an abort by the user counts as SIGINT. */
export function getSignalExitCode(abortedBy: AbortReason | undefined): number {
  if (abortedBy === undefined || abortedBy === 'user' || abortedBy === 'shutdown') return SIGNAL_CODES.sigint;
  return SIGNAL_CODES[abortedBy];
}
