import type { AgentEvent } from '../contracts/event.ts';
import type { ToolResultBlock, ToolUseBlock } from '../contracts/message.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { Tool } from '../contracts/tool.ts';
import { messageOf } from '../lib/errors.ts';
import { type CallEnd, failed, interrupted, resultOf } from './call-end.ts';
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

type Entry = {
  readonly block: ToolUseBlock;
  readonly messageId: string;
  readonly tool: Tool | undefined;
  readonly safe: boolean;
  state: 'waiting' | 'running' | 'ended';
  end: CallEnd | undefined;
};

/** Runs calls as they are added; `emit` hears what happens. */
export function createToolRun(deps: QueryDeps, emit: (event: AgentEvent) => void, signal: AbortSignal): ToolRun {
  const entries: Entry[] = [];
  const own = new AbortController();
  const stopOwn = () => own.abort();
  signal.addEventListener('abort', stopOwn, { once: true });
  if (signal.aborted) own.abort();
  let begun = 0;
  let discarded = false;
  let wake: (() => void) | undefined;

  function settle(): void {
    if (entries.some((entry) => entry.state !== 'ended')) return;
    wake?.();
    wake = undefined;
  }

  function end(entry: Entry, outcome: CallEnd, startedAt: number): void {
    entry.state = 'ended';
    entry.end = discarded ? { ...outcome, status: 'discarded' } : outcome;
    emit({
      type: 'tool_end',
      callId: entry.block.id,
      tool: entry.block.name,
      result: resultOf(entry.block, outcome),
      status: entry.end.status,
      durationMs: deps.now() - startedAt,
      ...(outcome.outcome.display === undefined ? {} : { display: outcome.outcome.display }),
      ...(outcome.outcome.structured === undefined ? {} : { structured: outcome.outcome.structured }),
    });
    schedule();
    settle();
  }

  function begin(entry: Entry): void {
    entry.state = 'running';
    const { block, tool } = entry;
    const startedAt = deps.now();
    if (own.signal.aborted) {
      end(entry, interrupted(), startedAt);
      return;
    }
    emit({
      type: 'tool_start',
      callId: block.id,
      tool: block.name,
      title: titleOf(block, tool),
      input: block.input,
      messageId: entry.messageId,
    });
    if (tool === undefined) {
      end(entry, failed(unknownTool(block.name, deps.tools())), startedAt);
      return;
    }
    begun += 1;
    runCall(block, tool, deps, emit, own.signal).then(
      (outcome) => end(entry, outcome, startedAt),
      (thrown) => end(entry, failed(`${block.name} could not be run: ${messageOf(thrown)}.`), startedAt),
    );
  }

  /** Calls begin in order. A safe one may join running safe ones; anything else waits until it is alone. */
  function schedule(): void {
    for (const entry of entries) {
      if (entry.state === 'ended') continue;
      if (entry.state === 'running') {
        if (!entry.safe) return;
        continue;
      }
      const running = entries.filter((other) => other.state === 'running').length;
      if (running > 0 && (!entry.safe || running >= deps.config.parallelCalls)) return;
      begin(entry);
      if (!entry.safe && entry.end === undefined) return;
    }
  }

  return {
    add(block, messageId) {
      const tool = findTool(block.name, deps.tools());
      entries.push({ block, messageId, tool, safe: isSafe(block, tool), state: 'waiting', end: undefined });
      schedule();
    },
    started: () => begun,
    settled() {
      if (entries.every((entry) => entry.state === 'ended')) return Promise.resolve();
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    ended: () =>
      entries.map(({ block, end: outcome = interrupted() }) => ({
        block,
        end: outcome,
        result: resultOf(block, outcome),
      })),
    discard() {
      discarded = true;
      own.abort();
      signal.removeEventListener('abort', stopOwn);
    },
  };
}
