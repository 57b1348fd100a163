import { type Printable, printed } from '../../lib/printable.ts';
/** What a terminal shows of our work in its tab or in the task bar. */
export type TerminalProgress = 'busy' | 'failed' | 'none';

const STATES: Readonly<Record<TerminalProgress, Printable>> = {
  busy: printed`3;0`,
  failed: printed`2;100`,
  none: printed`0;0`,
};

/** The sequence for it. Terminals that do not know it may take it for a notification. */
export function progressSequence(progress: TerminalProgress): Printable {
  return printed`\u001b]9;4;${STATES[progress]}\u0007`;
}

/** What of the surroundings tells whether a terminal shows progress. */
export type ProgressTerm = {
  readonly program: string | undefined;
  readonly programVersion: string | undefined;
  /** Windows Terminal or ConEmu, which set variables of their own. */
  readonly isWindows: boolean;
  readonly tmux: boolean;
};

/** Is this a terminal known to show progress? Through tmux nobody knows. */
export function showsProgress({ program, programVersion, isWindows, tmux }: ProgressTerm): boolean {
  if (tmux) return false;
  return isWindows || (program === 'ghostty' && isAtLeast(programVersion ?? '', 1, 2));
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return first > major || (first === major && second >= minor);
}
