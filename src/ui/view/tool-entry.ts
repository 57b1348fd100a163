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

/** Rows that the output of a call may take in the history, and those of a new file and of a change. */
export const OUTPUT_ROWS = { done: 3, failed: 8, created: 10, diff: 24 } as const;
const ROW_CHARS = 100;

/** Is there more of its output than the history shows? */
export function isCut({ state }: ToolEntry): boolean {
  if (state.status !== 'ended') return false;
  const { status, display, text } = state.ending;
  const most = status === 'failed' ? OUTPUT_ROWS.failed : OUTPUT_ROWS.done;
  switch (display?.kind) {
    case 'diff':
      return display.hunks.reduce((lines, hunk) => lines + hunk.lines.length, 0) > mostOfDiff(display);
    case 'output':
      return isLong(display.output, most);
    case 'text':
      return isLong(display.text, most);
    default:
      return status === 'failed' && isLong(text, most);
  }
}

/** How many rows a change may take. */
export function mostOfDiff({ created }: { readonly created: boolean }): number {
  return created ? OUTPUT_ROWS.created : OUTPUT_ROWS.diff;
}

function isLong(text: string, rows: number): boolean {
  return text.length > rows * ROW_CHARS || text.trimEnd().split('\n').length > rows;
}
