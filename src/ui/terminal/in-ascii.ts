import { asPrintable } from '../../lib/printable.ts';
import type { TerminalOut } from './stage.ts';

/** Signs of ours that slip into words, and what stands for each where only ASCII is shown; widths stay as they are. */
const SIGNS: Readonly<Record<string, string>> = {
  '·': '-',
  '…': '.',
  '│': '|',
  '─': '-',
  '→': '>',
  '●': '*',
  '−': '-',
};

/** A terminal that is only ever sent our own signs in ASCII, while that is so. What others have written goes through. */
export function inAscii(terminal: TerminalOut, isOn: () => boolean = () => true): TerminalOut {
  return {
    get columns() {
      return terminal.columns;
    },
    get rows() {
      return terminal.rows;
    },
    write: (text) =>
      terminal.write(isOn() ? asPrintable(text.replaceAll(/[·…│─→●−]/g, (sign) => SIGNS[sign] ?? sign)) : text),
    on: (event, listener) => terminal.on(event, listener),
    off: (event, listener) => terminal.off(event, listener),
  };
}
