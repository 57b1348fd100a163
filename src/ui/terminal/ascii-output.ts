import { markAsPrintable } from '../../lib/printable.ts';
import type { TerminalOutput } from './screen-frame-writer.ts';

/** ASCII replacements for symbols in texts. Each has the same width as its symbol. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  '·': '-',
  '…': '.',
  '│': '|',
  '─': '-',
  '→': '>',
  '●': '*',
  '−': '-',
};

/** Wraps a terminal so that symbols are replaced by ASCII while `isOn` returns true. Other text is unchanged. */
export function createAsciiOutput(terminal: TerminalOutput, isOn: () => boolean = () => true): TerminalOutput {
  return {
    get columns() {
      return terminal.columns;
    },
    get rows() {
      return terminal.rows;
    },
    write: (text) =>
      terminal.write(
        isOn() ? markAsPrintable(text.replaceAll(/[·…│─→●−]/g, (symbol) => REPLACEMENTS[symbol] ?? symbol)) : text,
      ),
    isBlocked: () => terminal.isBlocked?.() === true,
    on: (event, listener) => terminal.on(event, listener),
    off: (event, listener) => terminal.off(event, listener),
  };
}
