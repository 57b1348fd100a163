import type { AgentEvent } from '../contracts/event.ts';
import type { ToolUseBlock } from '../contracts/message.ts';
import type { BeforeCall, QueryDeps } from '../contracts/query.ts';
import type { CallRequest, PreparedCall, Tool, ToolOutcome } from '../contracts/tool.ts';
import { type CallEnd, callFailed, denied, notStarted } from './call-end.ts';
import { afterFailed, consult, gateFailed, hookFailed, noteChangedInput } from './consult.ts';
import { execute } from './execute.ts';
import { prepareCall } from './known-tools.ts';

/** parse ▸ pre-hook ▸ gate ▸ call ▸ post-hook ▸ cap. Never throws, whatever a tool or a hook does. */
export async function runCall(
  block: ToolUseBlock,
  tool: Tool,
  deps: QueryDeps,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
): Promise<CallEnd> {
  const parsed = prepareCall(block, tool);
  if (!parsed.ok) return callFailed(parsed.problem);
  const before = await consult(() => deps.beforeCall(requestOf(block, parsed.call, deps), signal), signal, hookFailed);
  if (before === undefined) return notStarted();
  if (before.stop !== undefined) return { ...denied(before.stop), stop: { by: 'hook', words: before.stop } };
  if (before.deny !== undefined) return denied(before.deny);

  const changed = before.input === undefined ? parsed : tool.prepare(before.input);
  if (!changed.ok) return callFailed(changed.problem);
  const request = requestOf(block, changed.call, deps);
  const verdict = await consult(() => deps.gate(request, before, signal), signal, gateFailed);
  if (verdict === undefined) return notStarted();
  if (verdict.behavior === 'deny') {
    return verdict.interrupt
      ? { ...denied(verdict.message), stop: { by: 'person', words: verdict.message } }
      : denied(verdict.message);
  }

  const allowed = verdict.input === request.input ? changed : tool.prepare(verdict.input);
  if (!allowed.ok) return callFailed(allowed.problem);
  // It runs in the directory it was decided for, even if a parallel call has changed the directory since.
  const settled = { ...deps, cwd: () => request.cwd };
  return finish(block, tool, allowed.call, noteChangedInput(before, request.input, verdict), settled, emit, signal);
}

async function finish(
  block: ToolUseBlock,
  tool: Tool,
  call: PreparedCall,
  before: BeforeCall,
  deps: QueryDeps,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
): Promise<CallEnd> {
  const startedAt = deps.now();
  const end = await execute(block, call, deps, emit, signal);
  if (end.status === 'interrupted') return end;
  const request = requestOf(block, call, deps);
  const durationMs = deps.now() - startedAt;
  const after = await consult(() => deps.afterCall(request, end.outcome, durationMs, signal), signal, afterFailed);
  const outcome = await cap(block, tool, after?.outcome ?? end.outcome, deps, signal);
  const attachments = [before.context, outcome.attachment, after?.context, after?.block].filter(
    (words): words is string => words !== undefined && words.trim() !== '',
  );
  const stop = after?.stop === undefined ? {} : { stop: { by: 'hook' as const, words: after.stop } };
  return { status: outcome.isError === true ? 'failed' : 'done', outcome, attachments, ...stop };
}

function requestOf(block: ToolUseBlock, call: PreparedCall, deps: QueryDeps): CallRequest {
  return {
    callId: block.id,
    tool: block.name,
    title: call.title,
    input: call.input,
    cwd: deps.cwd(),
    isReadOnly: call.isReadOnly,
  };
}

async function cap(
  block: ToolUseBlock,
  tool: Tool,
  outcome: ToolOutcome,
  deps: QueryDeps,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const call = { callId: block.id, tool: block.name };
  const limit = tool.maxResultChars;
  const cut = (why: string): ToolOutcome => {
    if (typeof outcome.content !== 'string' || outcome.content.length <= limit) return outcome;
    return { ...outcome, content: `${outcome.content.slice(0, limit)}\n[Cut here; the rest was not kept: ${why}]` };
  };
  return (await consult(() => deps.capResult(call, outcome, limit), signal, cut)) ?? cut('interrupted');
}
