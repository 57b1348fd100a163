import type { ToolOutcome } from '../../contracts/tool.ts';
import type { RunningShell } from './run-shell.ts';

/** How a command ended. */
export type ShellEnd = {
  readonly exitCode: number | null;
  /** The same in words, for the model; people have it beside the command. Empty when it ended well. */
  readonly words: string;
  /** What else both should know. */
  readonly notes: readonly string[];
  readonly how: 'ended' | 'interrupted';
};

/** What a command's end is told as, to the model and to people. */
export function shellOutcome(
  command: string,
  shell: RunningShell,
  { exitCode, words, notes, how }: ShellEnd,
): ToolOutcome {
  const output = shell.output.text();
  const path = shell.output.path();
  if (!shell.leftSomething()) shell.output.close();
  const joined = (...parts: readonly string[]) => parts.filter((part) => part !== '').join('\n');
  const text = joined(output.trimEnd(), words === '' ? '' : `[${words}]`, ...notes);
  const failed = exitCode !== 0;
  return {
    content: text === '' ? '(no output)' : text,
    ...(failed ? { isError: true } : {}),
    display: {
      kind: 'output',
      command,
      output: joined(output.trimEnd(), ...notes),
      exitCode,
      ...(exitCode === null && words !== '' ? { end: words } : {}),
      hiddenLines: 0,
      ...(path === undefined ? {} : { fullPath: path }),
    },
    structured: { stdout: output, stderr: '', interrupted: how === 'interrupted' },
  };
}

/** A command that goes on without being waited for. */
export function inBackground(how: 'Started' | 'Moved', id: string): ToolOutcome {
  return {
    content: `${how === 'Started' ? 'Started in' : 'Moved to'} the background as ${id}. Read its output with BashOutput, end it with KillShell.`,
    display: { kind: 'text', text: `in the background as ${id}` },
  };
}
