import type { CallDenial } from '../../contracts/denial.ts';
import type { FailureCause } from '../../contracts/event.ts';
import type { ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';

/** How one call ended. `stop` ends the run once all results are recorded. */
export type CallCompletion = {
  readonly status: 'done' | 'failed' | 'denied' | 'interrupted' | 'discarded';
  readonly outcome: ToolOutcome;
  /** Texts that follow the results: hook context and attachments of the tool. */
  readonly attachments: readonly string[];
  /** Set for a denied call. */
  readonly denial?: CallDenial;
  /** Set for a failed call. */
  readonly cause?: FailureCause;
  readonly stop?: { readonly by: 'hook' | 'person'; readonly message: string };
};

const INTERRUPTED_RESULT =
  'Interrupted by the user. The call may or may not have taken effect; check before repeating it.';

const NOT_STARTED_RESULT = 'Interrupted by the user before this call began: it was not started.';

/** Returns the completion of a call that failed. */
export function failCall(message: string, cause: FailureCause): CallCompletion {
  return { status: 'failed', outcome: { content: message, isError: true }, attachments: [], cause };
}

/** Returns the completion of a call that was not allowed. */
export function denyCall(message: string, denial: CallDenial): CallCompletion {
  return { status: 'denied', outcome: { content: message, isError: true }, attachments: [], denial };
}

/** Returns the completion of a call that was aborted while it ran. */
export function createInterruptedCompletion(): CallCompletion {
  return { status: 'interrupted', outcome: { content: INTERRUPTED_RESULT, isError: true }, attachments: [] };
}

/** Returns the completion of a call that was aborted before it ran. */
export function skipCall(): CallCompletion {
  return { status: 'interrupted', outcome: { content: NOT_STARTED_RESULT, isError: true }, attachments: [] };
}

/** Returns the result block for the model; an empty outcome is stated as such. */
export function createToolResult(block: ToolUseBlock, { outcome, status }: CallCompletion): ToolResultBlock {
  const isEmpty = typeof outcome.content === 'string' ? outcome.content.trim() === '' : outcome.content.length === 0;
  const isFailed = outcome.isError === true || status === 'denied' || status === 'interrupted';
  return {
    type: 'tool_result',
    tool_use_id: block.id,
    content: isEmpty ? '(no output)' : outcome.content,
    ...(isFailed ? { is_error: true } : {}),
  };
}
