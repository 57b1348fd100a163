import type { ToolOutcome } from '../../contracts/tool.ts';
import type { RunningShell } from './run-shell.ts';

/** What a command's end is told as, to the model and to people. */
export function shellOutcome(
  command: string,
  shell: RunningShell,
  exitCode: number | null,
  note: string,
  how: 'ended' | 'interrupted',
): ToolOutcome {
  const output = shell.output.text();
  const path = shell.output.path();
  if (!shell.leftSomething()) shell.output.close();
  const text = [output.trimEnd(), note].filter((part) => part !== '').join('\n');
  const failed = exitCode !== 0;
  return {
    content: text === '' ? '(no output)' : text,
    ...(failed ? { isError: true } : {}),
    display: {
      kind: 'output',
      command,
      output: text,
      exitCode,
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
