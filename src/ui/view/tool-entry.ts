import type { Display } from '../../contracts/display.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ToolProgress } from '../../contracts/tool.ts';

/** How a call ended. */
export type ToolEnding = {
  readonly status: 'done' | 'failed' | 'denied' | 'interrupted' | 'discarded';
  readonly text: string;
  readonly display?: Display;
  readonly durationMs: number;
  /** Of a call that was denied. */
  readonly refusedBy?: 'person';
};

/** One call as people see it. */
export type ToolEntry = {
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  /** Who called: the model, or the person by a line that begins with `!`. */
  readonly by: 'model' | 'person';
  readonly input: JsonValue;
  readonly startedAtMs: number;
  readonly state:
    | { readonly status: 'running' | 'waiting' }
    | { readonly status: 'ended'; readonly ending: ToolEnding };
  readonly progress?: ToolProgress;
};

/** Whether a call is over. */
export function hasEnded(entry: ToolEntry): boolean {
  return entry.state.status === 'ended';
}

/** Has it looked something up, and found it? */
export function isLookUp({ state }: ToolEntry): boolean {
  if (state.status !== 'ended' || state.ending.status !== 'done') return false;
  const kind = state.ending.display?.kind;
  return kind === 'file' || kind === 'list';
}
