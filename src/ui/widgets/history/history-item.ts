import type { Todo } from '../../../contracts/display.ts';
import type { ModelFailure } from '../../../contracts/model.ts';
import type { SessionWorkTotals } from '../../../contracts/session.ts';
import type { MarkdownBlock } from '../markdown/markdown-stream.ts';
import type { ToolCallEntry } from '../tool-calls/tool-entry.ts';

/** The counts of a run so far: tool calls, changed files and lines. */
export type RunTally = {
  readonly calls: number;
  readonly files: readonly string[];
  readonly added: number;
  readonly removed: number;
  readonly costAtStartUsd: number;
};

/** The content of the banner: program, model, folder, and the extensions and settings in effect. */
export type BannerContent = {
  readonly version: string;
  readonly model: string;
  readonly window: string;
  readonly folder: string;
  readonly branch: string | undefined;
  readonly configuration: readonly string[];
};

/** A finished item that is printed once to the scrollback of the terminal and never redrawn. */
export type HistoryItem =
  | ({ readonly kind: 'banner' } & BannerContent)
  /** Last session in the folder, shown below the banner. */
  | {
      readonly kind: 'last_session';
      readonly when: string;
      readonly title: string;
      readonly worked: SessionWorkTotals | undefined;
    }
  | { readonly kind: 'prompt'; readonly text: string; readonly at?: string | undefined }
  /** A `first` block starts a response and is preceded by an empty line. */
  | { readonly kind: 'markdown'; readonly block: MarkdownBlock; readonly position: 'first' | 'later' }
  | { readonly kind: 'tools'; readonly entries: readonly ToolCallEntry[] }
  | { readonly kind: 'notice'; readonly level: 'info' | 'warn' | 'error'; readonly text: string }
  /** `messageState`: the message is back in the composer, stays in the conversation, or waits for a limit to reset. */
  | {
      readonly kind: 'failure';
      readonly failure: ModelFailure;
      readonly messageState?: 'in_composer' | 'in_conversation' | 'waiting_for_reset';
    }
  | { readonly kind: 'stopped'; readonly hint: string }
  | {
      readonly kind: 'ended';
      readonly tally: RunTally;
      readonly durationMs: number;
      readonly costUsd: number;
      readonly atMs: number;
    }
  | { readonly kind: 'thinking'; readonly ms: number }
  | { readonly kind: 'compacted'; readonly fromTokens: number; readonly toTokens: number }
  | { readonly kind: 'shown'; readonly markdown: string }
  | { readonly kind: 'todos'; readonly todos: readonly Todo[] };

/** The finished items that are not printed yet, as a linked list with the newest first; appending is cheap. */
export type UnprintedHistory =
  | { readonly previous: UnprintedHistory; readonly items: readonly HistoryItem[] }
  | undefined;

/** Returns all unprinted items, oldest first. */
export function listUnprintedItems(outbox: UnprintedHistory): readonly HistoryItem[] {
  const parts: (readonly HistoryItem[])[] = [];
  for (let rest = outbox; rest !== undefined; rest = rest.previous) parts.push(rest.items);
  return parts.reverse().flat();
}
