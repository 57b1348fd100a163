import type { Todo } from './display.ts';
import type { Effort } from './model.ts';
import type { PermissionMode, RuleBehavior } from './permission.ts';

/** The values that can change while a conversation runs. */
export type LiveSessionValues = {
  readonly model: string;
  readonly effort: Effort;
  readonly thinkingTokens: number | undefined;
  readonly mode: PermissionMode;
  /** Current folder of shell commands; the session itself belongs to its first folder. */
  readonly cwd: string;
  readonly todos: readonly Todo[];
  readonly title: string | undefined;
  readonly outputStyle: string;
  /** The last plan that the user accepted. */
  readonly plan?: string | undefined;
  /** Permission rules for this session only. */
  readonly grants: readonly { readonly rule: string; readonly behavior: RuleBehavior }[];
  /** Additional workspace folders for this session only. */
  readonly directories: readonly string[];
};

/** The holder of the live values of a conversation. */
export type LiveSessionState = {
  current(): LiveSessionValues;
  update(part: Partial<LiveSessionValues>): void;
  /** Registers a listener for changes. */
  onChange(listener: (part: Partial<LiveSessionValues>, live: LiveSessionValues) => void): void;
};
