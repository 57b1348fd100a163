import type { AgentEvent } from '../contracts/event.ts';
import type { ToolResultBlock, ToolUseBlock } from '../contracts/message.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { Tool } from '../contracts/tool.ts';
import { messageOf } from '../lib/errors.ts';
import { type CallEnd, callFailed, interrupted, notStarted, resultOf } from './call-end.ts';
import { findTool, isSafe, titleOf, unknownTool } from './known-tools.ts';
import { runCall } from './tool-call.ts';

/** A call with its end. */
export type EndedCall = { readonly block: ToolUseBlock; readonly end: CallEnd; readonly result: ToolResultBlock };

/** The calls of one reply: started early, side by side when all are safe, kept in call order. */
export type ToolRun = {
  add(block: ToolUseBlock, messageId: string): void;
  /** How many calls have begun; a reply with a begun call is never thrown away for a retry. */
  started(): number;
  /** Resolves when every added call has its end. */
  settled(): Promise<void>;
  /** The ends so far, in call order; a call without one was interrupted. */
  ended(): readonly EndedCall[];
  /** The reply is void: abort what runs and forget it. */
  discard(): void;
};

type Call = {
  readonly block: ToolUseBlock;
  readonly messageId: string;
  readonly tool: Tool | undefined;
  readonly isSafe: boolean;
  readonly state: 'waiting' | 'running' | CallEnd;
};

/** Runs calls as they are added; `emit` gets the events. */
export function createToolRun(deps: QueryDeps, emit: (event: AgentEvent) => void, signal: AbortSignal): ToolRun {
  let calls: readonly Call[] = [];
  let begun = 0;
  let isDiscarded = false;
  let wake: (() => void) | undefined;
  const own = new AbortController();
  const stopOwn = () => own.abort();
  signal.addEventListener('abort', stopOwn, { once: true });
  if (signal.aborted) own.abort();

  const change = ({ block }: Call, state: Call['state']) => {
    calls = calls.map((call) => (call.block === block ? { ...call, state } : call));
  };

  function end(call: Call, outcome: CallEnd, startedAt: number): void {
    const kept: CallEnd = isDiscarded ? { ...outcome, status: 'discarded' } : outcome;
    change(call, kept);
    emit(endEvent(call, outcome, kept.status, deps.now() - startedAt));
    schedule();
    if (!calls.every(hasEnded)) return;
    wake?.();
    wake = undefined;
  }

  function begin(call: Call): void {
    const { block, tool, messageId } = call;
    const startedAt = deps.now();
    change(call, 'running');
    if (own.signal.aborted) {
      end(call, notStarted(), startedAt);
      return;
    }
    const title = titleOf(block, tool);
    emit({ type: 'tool_start', callId: block.id, tool: block.name, title, input: block.input, messageId });
    if (tool === undefined) {
      end(call, callFailed(unknownTool(block.name, deps.tools())), startedAt);
      return;
    }
    begun += 1;
    runCall(block, tool, deps, emit, own.signal).then(
      (outcome) => end(call, outcome, startedAt),
      (thrown) => end(call, callFailed(`${block.name} could not be run: ${messageOf(thrown)}.`), startedAt),
    );
  }

  function schedule(): void {
    const next = nextCall(calls, deps.config.parallelCalls);
    if (next === undefined) return;
    begin(next);
    schedule();
  }

  return {
    add(block, messageId) {
      const tool = findTool(block.name, deps.tools());
      calls = [...calls, { block, messageId, tool, isSafe: isSafe(block, tool), state: 'waiting' }];
      schedule();
    },
    started: () => begun,
    settled() {
      if (calls.every(hasEnded)) return Promise.resolve();
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    ended: () => calls.map(endOf),
    discard() {
      isDiscarded = true;
      own.abort();
      signal.removeEventListener('abort', stopOwn);
    },
  };
}

/** Calls begin in order. A safe one may join running safe ones; anything else waits until it is alone. */
function nextCall(calls: readonly Call[], parallelCalls: number): Call | undefined {
  const next = calls.find(({ state }) => state === 'waiting');
  const running = calls.filter(({ state }) => state === 'running');
  if (next === undefined || running.length === 0) return next;
  const mayJoin = next.isSafe && running.every((call) => call.isSafe) && running.length < parallelCalls;
  return mayJoin ? next : undefined;
}

function hasEnded({ state }: Call): boolean {
  return typeof state !== 'string';
}

function endOf({ block, state }: Call): EndedCall {
  const end = state === 'waiting' ? notStarted() : state === 'running' ? interrupted() : state;
  return { block, end, result: resultOf(block, end) };
}

function endEvent({ block }: Call, end: CallEnd, status: CallEnd['status'], durationMs: number): AgentEvent {
  const { display, structured } = end.outcome;
  return {
    type: 'tool_end',
    callId: block.id,
    tool: block.name,
    result: resultOf(block, end),
    status,
    durationMs,
    ...(display === undefined ? {} : { display }),
    ...(structured === undefined ? {} : { structured }),
  };
}
