import type { PermissionMode } from '../contracts/permission.ts';
import { formatOneLine } from '../lib/text/format.ts';
import { describePermissionMode } from './session-facts.ts';

/** The state of a session that the model must know after earlier announcements are gone. */
export type CurrentSessionState = {
  readonly mode: PermissionMode;
  readonly planInstructions?: string | undefined;
  readonly cwd: string;
  /** Absent outside a git repository. */
  readonly branch?: string | undefined;
  /** Running background shells and sub-agents. */
  readonly background: readonly { readonly id: string; readonly title: string }[];
};

const TITLE_CHARS = 100;

/** Describes the present state in sentences; nothing for a conversation whose state is not known. */
export function describeCurrentSessionState(state: CurrentSessionState | undefined): readonly string[] {
  if (state === undefined) return [];
  const { mode, planInstructions, cwd, branch, background } = state;
  const running = background.map(({ id, title }) => `${id} (${formatOneLine(title).slice(0, TITLE_CHARS)})`);
  return [
    describePermissionMode(mode, planInstructions),
    `The working directory is ${formatOneLine(cwd)}.`,
    ...(branch === undefined ? [] : [`The git branch is ${formatOneLine(branch)}.`]),
    running.length === 0 ? 'Nothing runs in the background.' : `In the background run: ${running.join(', ')}.`,
  ];
}
