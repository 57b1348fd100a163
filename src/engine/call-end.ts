import type { ToolResultBlock, ToolUseBlock } from '../contracts/message.ts';
import type { ToolOutcome } from '../contracts/tool.ts';

/** What became of one call. `stop` ends the run once the results are kept. */
export type CallEnd = {
  readonly status: 'done' | 'failed' | 'denied' | 'interrupted' | 'discarded';
  readonly outcome: ToolOutcome;
  /** Words behind all results: hook context, a tool's own attachment. */
  readonly attachments: readonly string[];
  readonly stop?: { readonly by: 'hook' | 'person'; readonly words: string };
};

const INTERRUPTED_RESULT =
  'Interrupted by the user. The call may or may not have taken effect; check before repeating it.';

const NOT_STARTED_RESULT = 'Interrupted by the user before this call began: it was not started.';

export function callFailed(words: string): CallEnd {
  return { status: 'failed', outcome: { content: words, isError: true }, attachments: [] };
}

export function denied(words: string): CallEnd {
  return { status: 'denied', outcome: { content: words, isError: true }, attachments: [] };
}

export function interrupted(): CallEnd {
  return { status: 'interrupted', outcome: { content: INTERRUPTED_RESULT, isError: true }, attachments: [] };
}

/** Stopped before anything of it ran. */
export function notStarted(): CallEnd {
  return { status: 'interrupted', outcome: { content: NOT_STARTED_RESULT, isError: true }, attachments: [] };
}

/** What the model reads. An empty outcome says so. */
export function resultOf(block: ToolUseBlock, { outcome, status }: CallEnd): ToolResultBlock {
  const empty = typeof outcome.content === 'string' ? outcome.content.trim() === '' : outcome.content.length === 0;
  const failedCall = outcome.isError === true || status === 'denied' || status === 'interrupted';
  return {
    type: 'tool_result',
    tool_use_id: block.id,
    content: empty ? '(no output)' : outcome.content,
    ...(failedCall ? { is_error: true } : {}),
  };
}
