import type { AgentEvent } from '../../contracts/event.ts';
import type { ToolUseBlock } from '../../contracts/message.ts';
import type { AfterCall, QueryDeps } from '../../contracts/query.ts';
import {
  type CallContext,
  type CallTrial,
  type PreparedCall,
  type Tool,
  ToolFailure,
  type ToolOutcome,
} from '../../contracts/tool.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { omitUndefined } from '../../lib/json.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { type AdmittedCall, admitCall, consultCallback, consultGate, createCallRequest } from './admit-call.ts';
import { type CallCompletion, createInterruptedCompletion, failCall } from './call-completion.ts';
import { runCompoundCall } from './run-compound-call.ts';

/** Runs one prepared call: pre-hook, gate, tool, post-hook, result cap. Never throws, whatever a tool or hook does. */
export async function runToolCall(
  block: ToolUseBlock,
  tool: Tool,
  parsed: ReturnType<Tool['prepare']>,
  deps: QueryDeps,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
): Promise<CallCompletion> {
  if (!parsed.ok) return failCall(parsed.problem, 'invalid_input');
  const run = { block, tool, deps, emit, signal };
  if (parsed.call.steps !== undefined)
    return runCompoundCall({ block, call: parsed.call }, deps, signal, {
      admit: (step) => admitCall({ ...run, block: step.block, tool: step.tool }, step.call),
      run: runAdmitted,
    });
  const admitted = await admitCall(run, parsed.call);
  return 'status' in admitted ? admitted : runAdmitted(admitted);
}

/**
 * Runs an admitted call. If its limits block an effect, or it was a trial that does not stand by itself, the gate is asked
 * once more, about that.
 */
async function runAdmitted(
  { run, call, enforce }: AdmittedCall,
  turn: 'first' | { readonly trial: CallTrial | undefined } = 'first',
): Promise<CallCompletion> {
  const { block, deps, emit, signal } = run;
  const startedAt = deps.now();
  const limits = omitUndefined({ enforce, trial: turn === 'first' ? undefined : turn.trial });
  const end = await executeTool(block, limitCall(call, limits), deps, emit, signal);
  const { blocked, trial } = end.outcome;
  if (end.status === 'interrupted') {
    discardTrial(trial);
    return end;
  }
  if ((blocked ?? trial) === undefined || turn !== 'first') return finishCall(run, call, end, startedAt);
  const again = await consultGate(run, call, { blocked, trial });
  // The trial is of the call as it was.
  const isSame = !('status' in again) && again.call === call;
  if (!isSame) discardTrial(trial);
  return 'status' in again ? again : runAdmitted(again, { trial: isSame ? trial : undefined });
}

function discardTrial(trial: CallTrial | undefined): void {
  if (trial?.is === 'pending') trial.discard();
}

/** Passes the limits of the gate to the call. A call without any stays as it is: a copy would compute its lazy fields. */
function limitCall(call: PreparedCall, limits: Pick<CallContext, 'enforce' | 'trial'>): PreparedCall {
  if (Object.keys(limits).length === 0) return call;
  return { ...call, call: (context) => call.call({ ...context, ...limits }) };
}

async function finishCall(
  { block, tool, hookBefore, deps, signal }: AdmittedCall['run'],
  call: PreparedCall,
  end: CallCompletion,
  startedAt: number,
): Promise<CallCompletion> {
  const request = createCallRequest(block, call, deps);
  const durationMs = deps.now() - startedAt;
  const hookAfter = await consultCallback(
    () => deps.afterCall(request, end.outcome, durationMs, signal),
    signal,
    reportHookFailure,
  );
  const outcome = await capOutcome(block, tool, hookAfter?.outcome ?? end.outcome, deps, signal);
  const attachments = [hookBefore.context, outcome.attachment, hookAfter?.context, hookAfter?.block].filter(
    (text): text is string => text !== undefined && text.trim() !== '',
  );
  const stop: Pick<CallCompletion, 'stop'> =
    hookAfter?.stop === undefined ? {} : { stop: { by: 'hook', message: hookAfter.stop } };
  const result = { outcome, attachments, ...stop };
  return outcome.isError === true
    ? { status: 'failed', cause: end.cause ?? 'reported', ...result }
    : { status: 'done', ...result };
}

async function capOutcome(
  block: ToolUseBlock,
  tool: Tool,
  outcome: ToolOutcome,
  deps: QueryDeps,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const call = { callId: block.id, tool: block.name };
  const limit = tool.maxResultChars;
  const truncate = (reason: string): ToolOutcome => {
    if (typeof outcome.content !== 'string' || outcome.content.length <= limit) return outcome;
    return { ...outcome, content: `${outcome.content.slice(0, limit)}\n[Cut here; the rest was not kept: ${reason}]` };
  };
  return (
    (await consultCallback(() => deps.capResult(call, outcome, limit), signal, truncate)) ?? truncate('interrupted')
  );
}

/** Time an aborted tool has to return a partial result. */
const ABORT_GRACE_MS = 20;

/** Runs the tool of a call; always resolves, whatever the tool does or throws. */
async function executeTool(
  block: ToolUseBlock,
  call: PreparedCall,
  deps: QueryDeps,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
): Promise<CallCompletion> {
  let isOver = false;
  // A controller of its own: an abort after the end of the tool must not reach it.
  const toolAbort = new AbortController();
  const forward = () => toolAbort.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  if (signal.aborted) forward();
  const context: CallContext = {
    callId: block.id,
    cwd: deps.cwd(),
    signal: toolAbort.signal,
    ...(deps.context.findSent === undefined ? {} : { findSent: deps.context.findSent }),
    report: (progress) => !isOver && emit({ type: 'tool_update', callId: block.id, progress }),
    ask: (question, withdrawn) =>
      deps.ask(block.id, question, withdrawn === undefined ? signal : AbortSignal.any([signal, withdrawn])),
  };
  try {
    const finished = await resolveUndefinedOnAbort(runTool(call, context), signal, ABORT_GRACE_MS);
    if (finished === undefined) return createInterruptedCompletion();
    const { outcome } = finished;
    if (signal.aborted && outcome.isError === true) return { status: 'interrupted', outcome, attachments: [] };
    return { status: outcome.isError === true ? 'failed' : 'done', outcome, attachments: [] };
  } catch (thrown) {
    if (signal.aborted) return createInterruptedCompletion();
    if (thrown instanceof ToolFailure) return failCall(thrown.message, 'tool');
    return failCall(
      `${block.name} failed unexpectedly: ${getErrorPhrase(thrown)}. The fault is in the tool, not in the call; try another way.`,
      'fault',
    );
  } finally {
    // Progress reported after the end of the tool is dropped.
    isOver = true;
    signal.removeEventListener('abort', forward);
  }
}

/** Returns the outcome of the tool; an untyped tool may return nothing. */
async function runTool(call: PreparedCall, context: CallContext): Promise<{ readonly outcome: ToolOutcome }> {
  const outcome: ToolOutcome | undefined = await call.call(context);
  return { outcome: outcome?.content === undefined ? { ...outcome, content: '' } : outcome };
}

/** Returns the context used when a hook after the call fails. */
function reportHookFailure(why: string): AfterCall {
  return { context: `A hook that runs after calls failed: ${why}` };
}
