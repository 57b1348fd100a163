import type { AgentEvent } from '../../contracts/event.ts';
import type { ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { createEventLoopYielder } from '../../lib/promises.ts';
import {
  type CallCompletion,
  createInterruptedCompletion,
  createToolResult,
  failCall,
  skipCall,
} from './call-completion.ts';
import { describeUnknownTool, findTool, prepareCall } from './find-tool.ts';
import { runToolCall } from './run-call.ts';

/** A call, how it ended, and its result block. */
export type CompletedCall = {
  readonly block: ToolUseBlock;
  readonly title: string;
  readonly completion: CallCompletion;
  readonly result: ToolResultBlock;
  readonly durationMs: number;
};

/** The calls of one reply: started while it streams, in parallel if all are concurrency-safe, kept in call order. */
export type ToolScheduler = {
  add(block: ToolUseBlock, messageId: string): void;
  /** Number of calls that have started; a reply with a started call is never discarded for a retry. */
  countStarted(): number;
  /** Number of added calls that have not ended. */
  countPending(): number;
  /** Resolves when every added call has ended. */
  whenSettled(): Promise<void>;
  /** Returns all calls in order; a call that has not ended counts as interrupted. */
  listCompleted(): readonly CompletedCall[];
  /** Aborts running calls, because the reply is discarded. */
  discard(): void;
};

type ScheduledCall = {
  readonly block: ToolUseBlock;
  readonly messageId: string;
  readonly tool: Tool | undefined;
  /** The validated call, prepared once; absent for an unknown tool. */
  readonly prepared: ReturnType<Tool['prepare']> | undefined;
};

/** Creates a scheduler that runs calls as they are added and passes their events to `emit`. */
export function createToolScheduler(
  deps: QueryDeps,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
): ToolScheduler {
  /** A reply may hold tens of thousands of calls: the lists grow in place, and nothing searches them for each call. */
  const calls: ScheduledCall[] = [];
  const running = new Set<ScheduledCall>();
  const completions = new Map<ScheduledCall, { readonly completion: CallCompletion; readonly durationMs: number }>();
  const yieldLoop = createEventLoopYielder();
  let nextIndex = 0;
  let isScheduling = false;
  let startedCount = 0;
  let isDiscarded = false;
  let resolveSettled: (() => void) | undefined;
  const runAbort = new AbortController();
  const abortRun = () => runAbort.abort();
  signal.addEventListener('abort', abortRun, { once: true });
  if (signal.aborted) runAbort.abort();

  const countPending = () => calls.length - completions.size;

  function endCall(call: ScheduledCall, outcome: CallCompletion, startedAt: number): void {
    const recorded: CallCompletion = isDiscarded ? { ...outcome, status: 'discarded' } : outcome;
    const durationMs = deps.now() - startedAt;
    running.delete(call);
    completions.set(call, { completion: recorded, durationMs });
    emit(createEndEvent(call, outcome, recorded.status, durationMs));
    void schedule();
    if (countPending() > 0) return;
    resolveSettled?.();
    resolveSettled = undefined;
  }

  function startCall(call: ScheduledCall): void {
    const { block, tool, prepared, messageId } = call;
    const startedAt = deps.now();
    running.add(call);
    if (runAbort.signal.aborted) {
      endCall(call, skipCall(), startedAt);
      return;
    }
    const title = getTitle(call);
    emit({ type: 'tool_start', callId: block.id, tool: block.name, title, input: block.input, messageId });
    if (tool === undefined || prepared === undefined) {
      endCall(call, failCall(describeUnknownTool(block.name, deps.tools()), 'unknown_tool'), startedAt);
      return;
    }
    startedCount += 1;
    runToolCall(block, tool, prepared, deps, emit, runAbort.signal).then(
      (outcome) => endCall(call, outcome, startedAt),
      (thrown) =>
        endCall(call, failCall(`${block.name} could not be run: ${getErrorPhrase(thrown)}.`, 'fault'), startedAt),
    );
  }

  /** Starts the calls that may start now. Yields to the event loop, as calls that fail at once could go on for seconds. */
  async function schedule(): Promise<void> {
    if (isScheduling) return;
    isScheduling = true;
    while (canStart(calls[nextIndex], running, deps.config.parallelCalls)) {
      const call = calls[nextIndex];
      nextIndex += 1;
      if (call !== undefined) startCall(call);
      const pause = nextIndex < calls.length ? yieldLoop() : undefined;
      if (pause !== undefined) await pause;
    }
    isScheduling = false;
  }

  function toCompletedCall(call: ScheduledCall): CompletedCall {
    const { block } = call;
    const unended = { completion: running.has(call) ? createInterruptedCompletion() : skipCall(), durationMs: 0 };
    const { completion, durationMs } = completions.get(call) ?? unended;
    return { block, title: getTitle(call), completion, result: createToolResult(block, completion), durationMs };
  }

  return {
    add(block, messageId) {
      const tool = findTool(block, deps.tools());
      const prepared = tool && prepareCall(block, tool);
      calls.push({ block: normalizeBlock(block, tool, prepared), messageId, tool, prepared });
      void schedule();
    },
    countStarted: () => startedCount,
    countPending,
    whenSettled() {
      if (countPending() === 0) return Promise.resolve();
      return new Promise((resolve) => {
        resolveSettled = resolve;
      });
    },
    listCompleted: () => calls.map(toCompletedCall),
    discard() {
      isDiscarded = true;
      runAbort.abort();
      signal.removeEventListener('abort', abortRun);
    },
  };
}

/** Tells whether the next call may start: safe calls run together, any other call runs alone. */
function canStart(
  next: ScheduledCall | undefined,
  running: ReadonlySet<ScheduledCall>,
  parallelCalls: number,
): boolean {
  if (next === undefined || running.size === 0) return next !== undefined;
  // A call that is not safe runs alone, so the first tells about all.
  const [first] = running;
  return isConcurrencySafe(next) && running.size < parallelCalls && (first === undefined || isConcurrencySafe(first));
}

/** Tells whether a call may run in parallel with others; a call with invalid input may, because it does nothing. */
function isConcurrencySafe({ prepared }: ScheduledCall): boolean {
  return prepared?.ok !== true || prepared.call.isConcurrencySafe;
}

/**
 * Returns the call under the name and with the arguments of its tool, for events, hooks and the gate. The conversation
 * keeps it as the model wrote it.
 */
function normalizeBlock(
  block: ToolUseBlock,
  tool: Tool | undefined,
  prepared: ReturnType<Tool['prepare']> | undefined,
): ToolUseBlock {
  if (tool === undefined) return block;
  return { ...block, name: tool.name, ...(prepared?.ok === true ? { input: prepared.call.input } : {}) };
}

function getTitle({ block, prepared }: ScheduledCall): string {
  return prepared?.ok === true ? prepared.call.title : block.name;
}

function createEndEvent(
  { block }: ScheduledCall,
  end: CallCompletion,
  status: CallCompletion['status'],
  durationMs: number,
): AgentEvent {
  const { display, structured } = end.outcome;
  return {
    type: 'tool_end',
    callId: block.id,
    tool: block.name,
    result: createToolResult(block, end),
    status,
    durationMs,
    ...(end.denial === undefined ? {} : { denial: end.denial }),
    ...(end.cause === undefined ? {} : { cause: end.cause }),
    ...(display === undefined ? {} : { display }),
    ...(structured === undefined ? {} : { structured }),
  };
}
