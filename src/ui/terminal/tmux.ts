import { asPrintable, type Printable, printed } from '../../lib/printable.ts';
import { outputOf } from '../../lib/processes/run-program.ts';

/** What tmux says of itself and of the terminal it is shown in. */
export type Tmux = {
  /** Sequences wrapped for it reach the terminal outside. */
  readonly allowsPassthrough: boolean;
  /** What programs put into the clipboard is taken. */
  readonly setsClipboard: boolean;
  /** The terminal outside, by the name in its TERM and by what it calls itself. */
  readonly outside: { readonly name: string; readonly program: string };
};

export type AskTmux = () => Promise<Tmux>;

const QUESTION = ['allow-passthrough', 'set-clipboard', 'client_termname', 'client_termtype'];
/** Versions of tmux answer with a number or with a word. */
const NO: readonly string[] = ['', '0', 'off'];
const TIMEOUT_MS = 1000;

/** Asks the tmux this terminal is in; one that does not answer lets nothing through. */
export async function askTmux(program = 'tmux'): Promise<Tmux> {
  const format = QUESTION.map((name) => `#{${name}}`).join('\n');
  const answer = await outputOf(program, ['display-message', '-p', format], { timeoutMs: TIMEOUT_MS }).catch(() => '');
  const [passthrough = '', clipboard, name = '', kind = ''] = answer.split('\n');
  return {
    allowsPassthrough: !NO.includes(passthrough),
    setsClipboard: clipboard === 'on',
    outside: { name, program: kind },
  };
}

/** A sequence that tmux hands on as it is. */
export function throughTmux(sequence: Printable): Printable {
  return printed`\u001bPtmux;${asPrintable(sequence.replaceAll('\u001b', '\u001b\u001b'))}\u001b\\`;
}
