import { markAsPrintable, type Printable, printable } from '../../lib/printable.ts';
import { runForOutput } from '../../lib/processes/run-program.ts';

/** The settings of tmux, and the terminal in which tmux runs. */
export type TmuxFacts = {
  /** Wrapped sequences reach the outer terminal. */
  readonly allowsPassthrough: boolean;
  /** Programs may set the clipboard. */
  readonly setsClipboard: boolean;
  /** Outer terminal: its TERM name, and the name it reports. */
  readonly outerTerminal: { readonly name: string; readonly program: string };
};

/** Queries the surrounding tmux. */
export type QueryTmux = () => Promise<TmuxFacts>;

const VARIABLES = ['allow-passthrough', 'set-clipboard', 'client_termname', 'client_termtype'];
/** Values of a disabled option; they differ between versions of tmux. */
const DISABLED: readonly string[] = ['', '0', 'off'];
const TIMEOUT_MS = 1000;

/** Queries the surrounding tmux. Without an answer, nothing is assumed to be allowed. */
export async function queryTmux(program = 'tmux'): Promise<TmuxFacts> {
  const format = VARIABLES.map((name) => `#{${name}}`).join('\n');
  const answer = await runForOutput(program, ['display-message', '-p', format], { timeoutMs: TIMEOUT_MS }).catch(
    () => '',
  );
  const [passthrough = '', clipboard, name = '', kind = ''] = answer.split('\n');
  return {
    allowsPassthrough: !DISABLED.includes(passthrough),
    setsClipboard: clipboard === 'on',
    outerTerminal: { name, program: kind },
  };
}

/** Wraps a sequence so that tmux passes it on unchanged. */
export function wrapForTmux(sequence: Printable): Printable {
  return printable`\u001bPtmux;${markAsPrintable(sequence.replaceAll('\u001b', '\u001b\u001b'))}\u001b\\`;
}
