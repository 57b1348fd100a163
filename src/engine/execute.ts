import type { AgentEvent } from '../contracts/event.ts';
import type { ToolUseBlock } from '../contracts/message.ts';
import type { QueryDeps } from '../contracts/query.ts';
import { type CallContext, type PreparedCall, ToolFailure, type ToolOutcome } from '../contracts/tool.ts';
import { untilAborted } from '../lib/abort.ts';
import { messageOf } from '../lib/errors.ts';
import { type CallEnd, callFailed, interrupted } from './call-end.ts';

/** How long an aborted tool may take to hand over what it has. */
const ABORT_GRACE_MS = 20;

/** Runs the tool itself: whatever it does or throws, the call has an end. */
export async function execute(
  block: ToolUseBlock,
  call: PreparedCall,
  deps: QueryDeps,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
): Promise<CallEnd> {
  let over = false;
  // Its own: what is stopped after its end is none of the tool's business.
  const own = new AbortController();
  const forward = () => own.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  if (signal.aborted) forward();
  const context: CallContext = {
    callId: block.id,
    cwd: deps.cwd(),
    signal: own.signal,
    report: (progress) => !over && emit({ type: 'tool_update', callId: block.id, progress }),
    ask: (question, withdrawn) =>
      deps.ask(block.id, question, withdrawn === undefined ? signal : AbortSignal.any([signal, withdrawn])),
  };
  try {
    const ended = await untilAborted(outcomeOf(call, context), signal, ABORT_GRACE_MS);
    if (ended === undefined) return interrupted();
    const { outcome } = ended;
    if (signal.aborted && outcome.isError === true) return { status: 'interrupted', outcome, attachments: [] };
    return { status: outcome.isError === true ? 'failed' : 'done', outcome, attachments: [] };
  } catch (thrown) {
    if (signal.aborted) return interrupted();
    if (thrown instanceof ToolFailure) return callFailed(thrown.message);
    return callFailed(
      `${block.name} broke: ${messageOf(thrown)}. The fault is in the tool, not in the call; try another way.`,
    );
  } finally {
    // Progress that a tool reports after its end is dropped.
    over = true;
    signal.removeEventListener('abort', forward);
  }
}

/** What the tool says; one that was written without types may say nothing at all. */
async function outcomeOf(call: PreparedCall, context: CallContext): Promise<{ readonly outcome: ToolOutcome }> {
  const outcome: ToolOutcome | undefined = await call.call(context);
  return { outcome: outcome?.content === undefined ? { ...outcome, content: '' } : outcome };
}
