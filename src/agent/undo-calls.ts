import type { JsonObject } from '../contracts/json.ts';
import type { Message } from '../contracts/message.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import type { CallContext, ToolOutcome } from '../contracts/tool.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../lib/promises.ts';
import type { AgentTool } from '../tools/definition/application-tool.ts';

/** An undo that takes longer counts as failed. */
const UNDO_TIMEOUT_MS = 60_000;

/** A call of a tool that is about to run, with the function that runs it. */
export type RunnableToolCall = {
  readonly tool: AgentTool;
  readonly input: JsonObject;
  readonly context: CallContext;
  readonly run: () => Promise<ToolOutcome>;
};

/** The calls of the current run that can be undone. */
export type ToolUndoLog = {
  /** Runs a call, and remembers it if its tool can undo it. */
  run(call: RunnableToolCall): Promise<ToolOutcome>;
  /** Forgets the calls of the last run. */
  start(): void;
  /** Undoes the calls of a run that was aborted or rejected, in reverse order. Returns the note for the model. */
  finish(terminal: Terminal): Promise<readonly Message[]>;
};

type UndoDeps = {
  readonly report: (level: 'info' | 'error', text: string) => void;
  readonly newId: () => string;
};

/** Creates the undo log of an agent. */
export function createToolUndoLog({ report, newId }: UndoDeps): ToolUndoLog {
  let calls: readonly (RunnableToolCall & { readonly outcome: ToolOutcome })[] = [];
  /** Calls that run on after an abort; their effects are undone as well, once they are known. */
  const running = new Set<Promise<unknown>>();

  async function undo({ tool, input, outcome, context }: (typeof calls)[number]): Promise<string> {
    const timeout = AbortSignal.timeout(UNDO_TIMEOUT_MS);
    try {
      const undone = tool.undo?.(input, outcome, { ...context, signal: timeout, ask: async () => undefined });
      await resolveUndefinedOnAbort(undone ?? Promise.resolve(), timeout);
      if (timeout.aborted) throw new Error(`it took longer than ${UNDO_TIMEOUT_MS / 1_000} s`);
      report('info', `${tool.name} was undone.`);
      return `${tool.name} (${context.callId}): undone`;
    } catch (thrown) {
      report('error', `${tool.name} could not be undone: ${getErrorMessage(thrown)}`);
      return `${tool.name} (${context.callId}): could not be undone: ${getErrorMessage(thrown)}`;
    }
  }

  return {
    async run(call) {
      const finished = call.run();
      if (call.tool.undo === undefined) return finished;
      const recorded = finished.then((outcome) => {
        if (outcome.isError !== true) calls = [...calls, { ...call, outcome }];
      });
      const settled: Promise<unknown> = recorded.catch(() => undefined).finally(() => running.delete(settled));
      running.add(settled);
      await recorded;
      return finished;
    },
    start() {
      calls = [];
    },
    async finish({ reason }) {
      if (reason !== 'aborted_streaming' && reason !== 'aborted_tools') return [];
      // A tool that ignores the abort may still finish its work.
      if (running.size > 0) await resolveUndefinedOnAbort(Promise.all(running), AbortSignal.timeout(RUNNING_GRACE_MS));
      const undone = calls;
      calls = [];
      if (undone.length === 0) return [];
      const lines: string[] = [];
      for (const call of undone.toReversed()) lines.push(await undo(call));
      const text = `[The run was stopped, and its calls were undone, the last one first:\n${lines.join('\n')}]`;
      return [{ role: 'user', id: newId(), origin: 'interrupt', blocks: [{ type: 'text', text }] }];
    },
  };
}

/** Time for which an undo waits for calls that run on after an abort. */
const RUNNING_GRACE_MS = 1_000;
