import type { Todo } from '../../contracts/display.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import type { Worked } from '../../contracts/session.ts';
import type { MarkdownBlock } from '../markdown/block.ts';
import type { ToolEntry } from './tool-entry.ts';

/** What a turn has done so far. */
export type Tally = {
  readonly calls: number;
  readonly files: readonly string[];
  readonly added: number;
  readonly removed: number;
  readonly costAtStartUsd: number;
};

/** What this is, where it is, and what of the project is in effect. */
export type Banner = {
  readonly version: string;
  readonly model: string;
  readonly window: string;
  readonly folder: string;
  readonly branch: string | undefined;
  readonly effects: readonly string[];
};

/** Something that is finished and belongs to the terminal's own history: printed once, never touched again. */
export type HistoryItem =
  | ({ readonly kind: 'banner' } & Banner)
  /** Where the folder was last worked in, below the banner. */
  | {
      readonly kind: 'last_session';
      readonly when: string;
      readonly title: string;
      readonly worked: Worked | undefined;
    }
  | { readonly kind: 'prompt'; readonly text: string; readonly at?: string | undefined }
  /** `first` blocks begin an answer and are set apart from what came before. */
  | { readonly kind: 'markdown'; readonly block: MarkdownBlock; readonly place: 'first' | 'later' }
  | { readonly kind: 'tools'; readonly entries: readonly ToolEntry[] }
  | { readonly kind: 'notice'; readonly level: 'info' | 'warn' | 'error'; readonly text: string }
  /** Words that were refused are back in the composer, or stay where they are because a draft stands there. */
  | { readonly kind: 'failure'; readonly failure: ModelFailure; readonly words?: 'returned' | 'kept' | 'waits' }
  | { readonly kind: 'stopped'; readonly hint: string }
  | {
      readonly kind: 'ended';
      readonly tally: Tally;
      readonly durationMs: number;
      readonly costUsd: number;
      readonly atMs: number;
    }
  | { readonly kind: 'thought'; readonly ms: number }
  | { readonly kind: 'made_room'; readonly fromTokens: number; readonly toTokens: number }
  | { readonly kind: 'shown'; readonly markdown: string }
  | { readonly kind: 'todos'; readonly todos: readonly Todo[] };

/** What has finished and is not printed yet, the newest outermost: however much waits, more of it costs the same. */
export type Outbox = { readonly earlier: Outbox; readonly items: readonly HistoryItem[] } | undefined;

/** Everything that waits, in the order it has finished. */
export function waitingItems(outbox: Outbox): readonly HistoryItem[] {
  const parts: (readonly HistoryItem[])[] = [];
  for (let rest = outbox; rest !== undefined; rest = rest.earlier) parts.push(rest.items);
  return parts.reverse().flat();
}
