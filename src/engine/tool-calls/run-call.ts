import { describeRefusal } from '../../contracts/denial.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { ToolUseBlock } from '../../contracts/message.ts';
import type { AfterCall, BeforeCall, QueryDeps } from '../../contracts/query.ts';
import {
  type CallContext,
  type CallRequest,
  type GateVerdict,
  type PreparedCall,
  type Tool,
  ToolFailure,
  type ToolOutcome,
} from '../../contracts/tool.ts';
import { getErrorMessage, getErrorPhrase } from '../../lib/errors.ts';
import { isSameJson } from '../../lib/json.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { truncateEnd } from '../../lib/text/text-width.ts';
import { type CallCompletion, createInterruptedCompletion, denyCall, failCall, skipCall } from './call-completion.ts';
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

/** The run of one call. */
type CallRun = {
  readonly block: ToolUseBlock;
  readonly tool: Tool;
  readonly deps: QueryDeps;
  readonly emit: (event: AgentEvent) => void;
  readonly signal: AbortSignal;
};

/** A call that hooks and gate have let pass, with its limits. */
export type AdmittedCall = {
  readonly run: CallRun & { readonly hookBefore: BeforeCall };
  readonly call: PreparedCall;
  readonly enforce: CallContext['enforce'];
};

/** Consults the hooks and the gate about a call. Returns how it ended if it may not run. */
async function admitCall(run: CallRun, given: PreparedCall): Promise<AdmittedCall | CallCompletion> {
  const { block, tool, deps, signal } = run;
  const prepared = given.completeInput === undefined ? given : await completeCall(run, given.completeInput);
  if ('status' in prepared) return prepared;
  const hookBefore = await consultCallback<BeforeCall | CallCompletion>(
    () => deps.beforeCall(createCallRequest(block, prepared, deps), signal),
    signal,
    denyOnHookFailure,
  );
  if (hookBefore === undefined) return skipCall();
  if ('status' in hookBefore) return hookBefore;
  if (hookBefore.stop !== undefined)
    return { ...denyByHook(hookBefore.stop), stop: { by: 'hook', message: hookBefore.stop } };
  if (hookBefore.deny !== undefined) return denyByHook(hookBefore.deny);

  if (hookBefore.input === undefined) return consultGate({ ...run, hookBefore }, prepared);
  const withHookInput = tool.prepare(hookBefore.input);
  if (!withHookInput.ok) return failCall(withHookInput.problem, 'invalid_input');
  return consultGate({ ...run, hookBefore }, withHookInput.call);
}

/** Prepares a call again with its completed input. */
async function completeCall(
  { tool, deps, signal }: CallRun,
  completeInput: NonNullable<PreparedCall['completeInput']>,
): Promise<PreparedCall | CallCompletion> {
  const completed = await consultCallback<ReturnType<Tool['prepare']>>(
    async () => tool.prepare(await completeInput({ cwd: deps.cwd(), signal })),
    signal,
    (problem) => ({ ok: false, problem }),
  );
  if (completed === undefined) return skipCall();
  return completed.ok ? completed.call : failCall(completed.problem, 'precondition');
}

async function consultGate(
  run: AdmittedCall['run'],
  prepared: PreparedCall,
  blocked?: ToolOutcome['blocked'],
): Promise<AdmittedCall | CallCompletion> {
  const { block, tool, hookBefore, deps, signal } = run;
  const request = { ...createCallRequest(block, prepared, deps), ...(blocked === undefined ? {} : { blocked }) };
  const verdict = await consultCallback(() => deps.gate(request, hookBefore, signal), signal, denyOnGateFailure);
  if (verdict === undefined) return skipCall();
  if (verdict.behavior === 'deny') {
    const { message, denial = { by: 'rule' } } = verdict;
    if (verdict.cause === 'obstacle') return failCall(message, 'precondition');
    return verdict.interrupt
      ? { ...denyCall(message, denial), stop: { by: 'person', message } }
      : denyCall(message, denial);
  }

  const withGateInput =
    verdict.input === request.input ? { ok: true as const, call: prepared } : tool.prepare(verdict.input);
  if (!withGateInput.ok) return failCall(withGateInput.problem, 'invalid_input');
  // The call runs in the directory it was approved for, even if a parallel call has changed the directory since.
  const callDeps = { ...deps, cwd: () => request.cwd };
  return {
    run: { ...run, hookBefore: noteChangedInput(hookBefore, request.input, verdict), deps: callDeps },
    call: withGateInput.call,
    enforce: verdict.enforce,
  };
}

/** Runs an admitted call. If its limits block an effect, the gate is asked once more, about that effect. */
async function runAdmitted(
  { run, call, enforce }: AdmittedCall,
  whenBlocked: 'ask' | 'end' = 'ask',
): Promise<CallCompletion> {
  const { block, deps, emit, signal } = run;
  const startedAt = deps.now();
  const end = await executeTool(block, limitCall(call, enforce), deps, emit, signal);
  if (end.status === 'interrupted') return end;
  if (end.outcome.blocked === undefined || whenBlocked === 'end') return finishCall(run, call, end, startedAt);
  const again = await consultGate(run, call, end.outcome.blocked);
  return 'status' in again ? again : runAdmitted(again, 'end');
}

function denyByHook(reason: string): CallCompletion {
  return denyCall(describeRefusal({ by: 'hook', reason }), { by: 'hook', reason });
}

/** Passes the limits of the gate to the call. */
function limitCall(call: PreparedCall, enforce: CallContext['enforce']): PreparedCall {
  return enforce === undefined ? call : { ...call, call: (context) => call.call({ ...context, enforce }) };
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

function createCallRequest(block: ToolUseBlock, call: PreparedCall, deps: QueryDeps): CallRequest {
  const cwd = deps.cwd();
  const { checkPreconditions } = call;
  return {
    callId: block.id,
    tool: block.name,
    title: call.title,
    input: call.input,
    cwd,
    isReadOnly: call.isReadOnly,
    ...(checkPreconditions === undefined
      ? {}
      : { checkPreconditions: (signal) => checkPreconditions({ cwd, signal }) }),
    ...(call.shell === undefined ? {} : { shell: call.shell }),
  };
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

/** Calls a callback; returns `undefined` once aborted, and the result of `onFailure` if it throws. */
async function consultCallback<Result>(
  callback: () => Promise<Result>,
  signal: AbortSignal,
  onFailure: (why: string) => Result,
): Promise<Result | undefined> {
  try {
    return await resolveUndefinedOnAbort((async () => callback())(), signal);
  } catch (thrown) {
    return signal.aborted ? undefined : onFailure(getErrorMessage(thrown));
  }
}

/** Returns the denial used when a hook before the call fails. */
function denyOnHookFailure(why: string): CallCompletion {
  const message = `A hook that checks calls failed (${why}), so the call was not made.`;
  return denyCall(message, { by: 'fault', reason: why });
}

/** Returns the denial used when the permission check fails. */
function denyOnGateFailure(why: string): GateVerdict {
  const message = `The permission check failed (${why}), so the call was not made.`;
  return { behavior: 'deny', message, interrupt: false, denial: { by: 'fault', reason: why } };
}

/** Returns the context used when a hook after the call fails. */
function reportHookFailure(why: string): AfterCall {
  return { context: `A hook that runs after calls failed: ${why}` };
}

type Allowed = Extract<GateVerdict, { behavior: 'allow' }>;

/** Length to which a changed input is truncated for the model. */
const MAX_INPUT_CHARS = 4000;

/** Adds to the hook context that a call ran with another input than the model sent; its result does not say so. */
function noteChangedInput(hookResult: BeforeCall, requested: JsonObject, allowed: Allowed): BeforeCall {
  const { input: used, note: reason = 'The user changed this call before allowing it.' } = allowed;
  if (requested === used || isSameJson(requested, used)) return hookResult;
  const input = truncateEnd(JSON.stringify(used), MAX_INPUT_CHARS);
  const note = `${reason} It ran with this input in place of yours: ${input}`;
  return { ...hookResult, context: hookResult.context === undefined ? note : `${hookResult.context}\n\n${note}` };
}
