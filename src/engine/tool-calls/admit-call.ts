import { describeRefusal } from '../../contracts/denial.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { ToolUseBlock } from '../../contracts/message.ts';
import type { BeforeCall, QueryDeps } from '../../contracts/query.ts';
import type { CallContext, CallRequest, GateVerdict, PreparedCall, Tool, ToolOutcome } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { isSameJson, omitUndefined } from '../../lib/json.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { truncateEnd } from '../../lib/text/text-width.ts';
import { type CallCompletion, denyCall, failCall, skipCall } from './call-completion.ts';

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
export async function admitCall(run: CallRun, given: PreparedCall): Promise<AdmittedCall | CallCompletion> {
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

/** Asks the gate about a call; the second time about the effects that its limits have blocked, or of its trial. */
export async function consultGate(
  run: AdmittedCall['run'],
  prepared: PreparedCall,
  { blocked, trial }: Pick<ToolOutcome, 'blocked' | 'trial'> = {},
): Promise<AdmittedCall | CallCompletion> {
  const { block, tool, hookBefore, deps, signal } = run;
  const request = { ...createCallRequest(block, prepared, deps), ...omitUndefined({ blocked, trial }) };
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

function denyByHook(reason: string): CallCompletion {
  return denyCall(describeRefusal({ by: 'hook', reason }), { by: 'hook', reason });
}

type Allowed = Extract<GateVerdict, { behavior: 'allow' }>;

/** Length to which a changed input is truncated for the model. */
const MAX_INPUT_CHARS = 4000;

/** Adds to the hook context that a call ran with another input than the model sent; its result does not say so. */
function noteChangedInput(hookResult: BeforeCall, requested: JsonObject, allowed: Allowed): BeforeCall {
  const note = describeChangedInput(requested, allowed);
  if (note === undefined) return hookResult;
  return { ...hookResult, context: hookResult.context === undefined ? note : `${hookResult.context}\n\n${note}` };
}

/** Describes for the model the input that a gate has put in place of its own; `undefined` if it is the same. */
export function describeChangedInput(requested: JsonObject, { input: used, note }: Allowed): string | undefined {
  if (requested === used || isSameJson(requested, used)) return undefined;
  const reason = note ?? 'The user changed this call before allowing it.';
  return `${reason} It ran with this input in place of yours: ${truncateEnd(JSON.stringify(used), MAX_INPUT_CHARS)}`;
}

/** Creates the request about a call, as the gate and the features get it. */
export function createCallRequest(block: ToolUseBlock, call: PreparedCall, deps: QueryDeps): CallRequest {
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

/** Calls a callback; returns `undefined` once aborted, and the result of `onFailure` if it throws. */
export async function consultCallback<Result>(
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
