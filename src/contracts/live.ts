import type { Todo } from './display.ts';
import type { Effort } from './model.ts';
import type { PermissionMode, RuleBehavior } from './permission.ts';

/** What may change while a conversation runs. One owner, read by everybody through `now()`. */
export type Live = {
  readonly model: string;
  readonly effort: Effort;
  readonly thinkingTokens: number | undefined;
  readonly mode: PermissionMode;
  /** Where shell commands stand now; the session itself belongs to its first directory. */
  readonly cwd: string;
  readonly todos: readonly Todo[];
  readonly title: string | undefined;
  readonly outputStyle: string;
  /** The plan that was agreed on last. */
  readonly plan?: string | undefined;
  /** Rules that hold for this session alone. */
  readonly grants: readonly { readonly rule: string; readonly behavior: RuleBehavior }[];
  /** Folders that joined the workspace for this session alone. */
  readonly directories: readonly string[];
};

export type LiveState = {
  now(): Live;
  change(part: Partial<Live>): void;
  /** Hears every change, for the transcript and the screen. */
  onChange(listener: (part: Partial<Live>, live: Live) => void): void;
};
